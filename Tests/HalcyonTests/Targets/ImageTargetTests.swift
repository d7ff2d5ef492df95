import Foundation
import HalcyonTesting
import TestSupport
import Testing

@testable import Halcyon

/// The behaviour of everything that shows images, without a toolkit.
@MainActor @Suite(.timeLimit(.minutes(60))) struct ImageTargetTests: TargetSuite {
    let fixture = PipelineFixture()
    private let screen = TargetScreen()
    let ends = TargetEnds()

    // MARK: - The way of a load

    @Test func placeholderThenImageThenTheEnd() async throws {
        let url = try fixture.serve("png/rgb8.png")
        let target = ImageTarget(surface: screen)
        set(target, url, .init(placeholder: .custom("grey")))
        #expect(screen.contents == ["placeholder grey"] && screen.states == ["loading"])
        await ends.wait(for: 1)
        #expect(ends.all == ["1 shown"])
        #expect(screen.contents.count == 2 && screen.states.last == "showing")
        guard case .image(let response) = target.content else { return #expect(Bool(false)) }
        #expect(response.origin == .network && target.content.image?.size == response.image.size)
    }

    @Test func anImageInMemoryIsThereInTheSameCall() async throws {
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        let target = ImageTarget(surface: screen)
        set(target, url, .init(placeholder: .custom("grey"), transition: .fade()))
        #expect(ends.all == ["1 shown"])
        #expect(screen.contents.count == 1 && screen.states == ["showing"])
        // The very same again is nothing new.
        set(target, url, as: "2")
        #expect(ends.all == ["1 shown", "2 shown"] && screen.contents.count == 1)
    }

    /// T-47.
    @Test func lastRequestIsShownAndEachCompletesOnce() async throws {
        let gate = ScriptedTransportGate()
        let files = ["png/rgb8.png", "png/rgba8.png", "jpeg/gray.jpg"]
        let urls = try files.map { try fixture.serve($0, gate: gate) }
        let target = ImageTarget(surface: screen)
        for (index, url) in urls.enumerated() { set(target, url, as: "\(index)") }
        #expect(ends.all == ["0 superseded", "1 superseded"])
        gate.open()
        await ends.wait(for: 3)
        #expect(ends.all.last == "2 shown")
        let shown = try await fixture.pipeline.image(for: urls[2]).size
        #expect(screen.contents.filter { $0 != "nothing" } == ["\(shown)"])
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
        #expect(ends.all.count == 3)
        #expect(fixture.decodes.value == 1)
    }

    @Test func aFormerLoadMayFinishForTheCaches() async throws {
        let gate = ScriptedTransportGate()
        let (first, second) = (try fixture.serve("png/rgb8.png", gate: gate), try fixture.serve("png/rgba8.png"))
        let target = ImageTarget(surface: screen)
        set(target, first, .init(formerLoad: .finish))
        try await fixture.transport.waitForRequests(1)
        set(target, second, as: "2")
        await ends.wait(for: 2)
        gate.open()
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
        #expect(ends.all == ["1 superseded", "2 shown"])
        #expect(fixture.pipeline.cache.image(inMemoryFor: first) != nil)
        #expect(screen.contents.filter { $0 != "nothing" }.count == 1)
    }

    @Test func aCancelledLoadShowsNothing() async throws {
        let gate = ScriptedTransportGate()
        let url = try fixture.serve("png/rgb8.png", gate: gate)
        let target = ImageTarget(surface: screen)
        set(target, url)
        try await fixture.transport.waitForRequests(1)
        target.cancel()
        target.cancel()
        #expect(ends.all == ["1 cancelled"] && screen.states.last == "empty")
        gate.open()
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
        #expect(screen.contents == ["nothing"] && ends.all.count == 1)
    }

    @Test func cancelAllEndsTargetLoad() async throws {
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        let target = ImageTarget(surface: screen)
        set(target, url)
        try await fixture.transport.waitForRequests(1)
        fixture.pipeline.cancelAll()
        await ends.wait(for: 1)
        #expect(ends.all == ["1 cancelled"])
    }

    @Test func cachedImageOfOtherSizeIsPlaceholder() async throws {
        let url = try fixture.serve("png/rgb8.png")
        #expect(ImageTarget.Placeholder.cached(ImageRequest(url), in: fixture.pipeline) == nil)
        var small = ImageRequest(url)
        small.decode.target = TargetSize(PixelSize(9, 9), mode: .fit)
        let thumbnail = try await fixture.pipeline.image(for: small)
        let target = ImageTarget(surface: screen)
        set(target, url, .init(placeholder: .cached(ImageRequest(url), in: fixture.pipeline)))
        #expect(screen.contents == ["placeholder \(thumbnail.size)"])
        await ends.wait(for: 1)
        #expect(ends.all == ["1 shown"] && target.content.image?.size != thumbnail.size)
    }

    @Test func aBlurHashMayStandIn() throws {
        let target = ImageTarget(surface: screen)
        set(target, nil, .init(placeholder: try .blurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj", size: PixelSize(8, 6))))
        #expect(screen.contents == ["placeholder \(PixelSize(8, 6))"])
        #expect(throws: BlurHashError.self) { try ImageTarget.Placeholder.blurHash("no hash") }
    }

    /// A callback may make another request at once: nothing of the former one is shown or reported after that.
    @Test func aCallbackMayAskForAnotherImage() async throws {
        let urls = try (5...6).map { width in
            let url = PipelineFixture.url("\(width).png")
            fixture.transport.answer(url, with: .data(try image(width).data(as: .png)))
            return url
        }
        let size = try await fixture.pipeline.image(for: urls[1]).size
        let target = ImageTarget(surface: screen)
        screen.onShow = { [ends, fixture] content in
            guard case .image(let response) = content, response.image.size != size else { return }
            target.setImage(
                ImageRequest(urls[1]), pipeline: fixture.pipeline, completion: ends.callback("2"))
        }
        set(target, urls[0])
        await ends.wait(for: 2)
        #expect(ends.all == ["2 shown", "1 shown"])
        #expect(target.content.image?.size == size && screen.states.filter { $0 == "showing" }.count == 1)
        guard case .showing(let response) = target.state else { return #expect(Bool(false)) }
        #expect(response.image.size == size)
    }

    @Test func aTargetThatGoesAwayCancels() async throws {
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        var target: ImageTarget? = ImageTarget(surface: screen)
        set(try #require(target), url)
        try await fixture.transport.waitForRequests(1)
        target = nil
        #expect(ends.all == ["1 cancelled"])
        // The transport is cancelled after the pipeline.
        while fixture.transport.cancelled.isEmpty { await Task.yield() }
        #expect(fixture.transport.cancelled.count == 1)
    }

    @Test func clearedTargetShowsNothing() async throws {
        let url = try fixture.serve("png/rgb8.png")
        let target = ImageTarget(surface: screen)
        set(target, url)
        await ends.wait(for: 1)
        target.clear()
        #expect(screen.contents.last == "nothing" && screen.states.last == "empty" && target.request == nil)
        set(target, url, as: "2")
        target.clear()
        #expect(ends.all == ["1 shown", "2 shown"])
        // An image that the program has.
        set(target, PipelineFixture.url("none"), as: "3")
        target.showImage(try image(4))
        #expect(screen.contents.last == "own \(PixelSize(4, 1))" && ends.all.last == "3 superseded")
        #expect(target.content.image?.width == 4 && screen.states.last == "empty")
    }

    // MARK: - Placeholders and failures

    /// T-49.
    @Test func withoutAURLThePlaceholderStays() async throws {
        let target = ImageTarget(surface: screen)
        set(target, nil, .init(placeholder: .custom("grey")))
        await ends.wait(for: 1)
        #expect(ends.all == ["1 failed"] && Set(screen.contents) == ["placeholder grey"])
        guard case .failed(let error) = target.state else { return #expect(Bool(false)) }
        #expect((error as? ImagePipelineError)?.code == "invalidRequest")
    }

    @Test func theCurrentImageMayStay() async throws {
        let first = try fixture.serve("png/rgb8.png")
        let target = ImageTarget(surface: screen)
        let options = ImageTarget.Options(placeholder: .custom("grey"), keepsCurrent: true)
        // There is none yet.
        set(target, first, options)
        #expect(screen.contents == ["placeholder grey"])
        await ends.wait(for: 1)
        let size = try #require(target.content.image?.size)
        set(target, PipelineFixture.url("none"), options, as: "2")
        await ends.wait(for: 2)
        #expect(screen.contents == ["placeholder grey", "\(size)"] && ends.all.last == "2 failed")
    }

    /// A is shown, B was cancelled: a new request for B loads B.
    @Test func cancelledRequestIsNotTakenAsShownImage() async throws {
        let gate = ScriptedTransportGate()
        let (first, second) = (try fixture.serve("png/rgb8.png"), try fixture.serve("png/rgba8.png", gate: gate))
        let target = ImageTarget(surface: screen)
        set(target, first)
        await ends.wait(for: 1)
        set(target, second, .init(keepsCurrent: true), as: "2")
        target.cancel()
        set(target, second, .init(keepsCurrent: true), as: "3")
        gate.open()
        await ends.wait(for: 3)
        let size = try await fixture.pipeline.image(for: second).size
        #expect(ends.all == ["1 shown", "2 cancelled", "3 shown"] && screen.contents.last == "\(size)")
        let empty = ImageTarget { _ in }
        empty.reload(completion: ends.callback("4"))
        #expect(ends.all.last == "4 cancelled")
    }

    @Test func anImageForFailures() async throws {
        let (good, bad) = (try fixture.serve("png/rgb8.png"), PipelineFixture.url("none"))
        let target = ImageTarget(surface: screen)
        let placeholder = ImageTarget.Placeholder.image(try image(3))
        set(target, bad, .init(placeholder: placeholder, failure: .image(try image(2))))
        await ends.wait(for: 1)
        #expect(screen.contents.last == "failure \(PixelSize(2, 1))")
        set(target, bad, .init(placeholder: placeholder, failure: .image(nil)))
        await ends.wait(for: 2)
        #expect(screen.contents.last == "nothing" && target.content.image == nil)
        set(target, bad, .init(placeholder: placeholder))
        await ends.wait(for: 3)
        #expect(screen.contents.last == "placeholder \(PixelSize(3, 1))")
        // Only after a failure: the image before it stays until then.
        set(target, good)
        await ends.wait(for: 4)
        let count = screen.contents.count
        set(target, bad, .init(placeholder: placeholder, placeholderTiming: .onFailure))
        #expect(screen.contents.count == count)
        await ends.wait(for: 5)
        #expect(screen.contents.last == "placeholder \(PixelSize(3, 1))" && screen.contents.count == count + 1)
    }

    @Test func targetWithoutAutomaticSettingShowsNothing() async throws {
        let url = try fixture.serve("png/rgb8.png")
        let target = ImageTarget(surface: screen)
        set(target, url, .init(setsAutomatically: false))
        await ends.wait(for: 1)
        #expect(ends.all == ["1 shown"] && screen.contents == ["nothing"] && screen.states.last == "empty")
    }

    @Test func reloadingAsksTheServerAndKeepsTheImage() async throws {
        let url = try fixture.serve("png/rgb8.png")
        let target = ImageTarget(surface: screen)
        set(target, url)
        await ends.wait(for: 1)
        target.reload(completion: ends.callback("2"))
        await ends.wait(for: 2)
        #expect(ends.all == ["1 shown", "2 shown"] && fixture.transport.requestCount == 2)
        #expect(screen.contents.count == 3 && screen.contents[1] == screen.contents[2])
    }

    @Test func previewsAreShownAndNeverStay() async throws {
        let data = try TestFiles.data("jpeg/progressive.jpg")
        let fixture = PipelineFixture { $0.coders = .standard() }
        let url = PipelineFixture.url("slow.jpg")
        let gate = ScriptedTransportGate()
        fixture.transport.answer(
            url,
            with: .init(
                headers: ["Content-Length": "\(data.count)"],
                steps: [.chunk(data.prefix(data.count * 3 / 4)), .wait(gate)]))
        var request = ImageRequest(url)
        (request.wantsPreviews, request.wantsEveryPreview) = (true, true)
        let target = ImageTarget(surface: screen)
        target.setImage(request, pipeline: fixture.pipeline, completion: ends.callback("1"))
        while screen.contents.last != "preview" { await Task.yield() }
        #expect(screen.states.contains { Int($0) != nil })
        target.cancel()
        #expect(screen.contents.last == "nothing" && ends.all == ["1 cancelled"])
    }

    // MARK: - Transitions

    @Test func aTransitionIsForWhatWasNotInMemory() async throws {
        let url = try fixture.serve("png/rgb8.png")
        let target = ImageTarget(surface: screen)
        set(target, url, .init(transition: .fade(), waitsForTransition: true))
        while screen.ends.isEmpty { await Task.yield() }
        #expect(screen.contents.last?.hasPrefix("transition") == true && ends.all == [])
        #expect(screen.states.last == "showing")
        screen.ends[0]()
        #expect(ends.all == ["1 shown"])
        // From memory only where it is forced; the end does not wait by default.
        target.clear()
        set(target, url, .init(transition: .flip(from: .left)), as: "2")
        #expect(screen.ends.count == 1 && ends.all.last == "2 shown")
        target.clear()
        set(target, url, .init(transition: .flip(from: .left).forced), as: "3")
        #expect(screen.ends.count == 2 && ends.all.last == "3 shown")
    }

    /// T-48.
    @Test func newRequestDuringTransitionCompletesBoth() async throws {
        let (first, second) = (try fixture.serve("png/rgb8.png"), try fixture.serve("png/rgba8.png"))
        let target = ImageTarget(surface: screen)
        set(target, first, .init(transition: .fade(), waitsForTransition: true))
        while screen.ends.isEmpty { await Task.yield() }
        // The image is there: nothing is left to cancel.
        target.cancel()
        #expect(target.content.image != nil && ends.all == [])
        set(target, second, as: "2")
        await ends.wait(for: 1)
        screen.ends[0]()
        #expect(Set(ends.all) == ["1 shown", "2 shown"])
    }

    // MARK: - Priority

    @Test func targetPriorityOverridesRequestPriority() async throws {
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        let target = ImageTarget(surface: screen)
        target.priority = .low
        set(target, url)
        #expect(target.loadPriority == .low)
        target.priority = nil
        #expect(target.loadPriority == .normal)
        target.priority = .veryHigh
        #expect(target.loadPriority == .veryHigh && target.request?.priority == .normal)
    }

    @Test func transitionsTakeHalfASecondByDefault() {
        let transitions: [ImageTransition] = [
            ImageTransition(.crossFade), .fade(), .flip(from: .left), .slide(from: .top),
        ]
        for transition in transitions {
            #expect(transition.duration == .milliseconds(500))
            #expect(transition.origins == Set(ImageOrigin.allCases).subtracting([.memory]))
        }
    }
}
