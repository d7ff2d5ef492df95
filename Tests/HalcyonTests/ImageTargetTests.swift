import Foundation
import HalcyonTesting
import TestSupport
import Testing

@testable import Halcyon

/// What anything that shows images does, without a toolkit.
@MainActor @Suite(.timeLimit(.minutes(60))) struct ImageTargetTests {
    /// A surface that notes what it was told, and whose transitions end when a test says so.
    @MainActor private final class Screen: ImageSurface {
        var contents: [String] = []
        var states: [String] = []
        var ends: [@MainActor () -> Void] = []

        var onShow: (@MainActor (ImageTarget.Content) -> Void)?

        func show(_ content: ImageTarget.Content) {
            contents.append(name(content))
            onShow?(content)
        }

        func show(
            _ response: ImageResponse, by transition: ImageTransition, completion: @escaping @MainActor () -> Void
        ) {
            contents.append("transition to \(response.image.size)")
            ends.append(completion)
        }

        func stateChanged(_ state: ImageTarget.State) {
            switch state {
            case .empty: states.append("empty")
            case .loading(nil): states.append("loading")
            case .loading(let progress?): states.append("\(progress.received)")
            case .showing: states.append("showing")
            case .failed: states.append("failed")
            }
        }

        func name(_ content: ImageTarget.Content) -> String {
            switch content {
            case .nothing: "nothing"
            case .placeholder(.image(let image)): "placeholder \(image.size)"
            case .placeholder(.custom(let value)): "placeholder \(value)"
            case .preview: "preview"
            case .image(let response): "\(response.image.size)"
            case .failure(let image): "failure \(image.size)"
            case .own(let image): "own \(image.size)"
            }
        }
    }

    /// How loads ended, in order, under the names that they were given.
    @MainActor private final class Ends {
        private(set) var all: [String] = []
        private var waiting: [(count: Int, go: CheckedContinuation<Void, Never>)] = []

        func callback(_ name: String) -> @MainActor (ImageTarget.End) -> Void {
            { end in
                let kind =
                    switch end {
                    case .shown: "shown"
                    case .failed: "failed"
                    case .cancelled: "cancelled"
                    case .superseded: "superseded"
                    }
                self.all.append("\(name) \(kind)")
                self.waiting.filter { $0.count <= self.all.count }.forEach { $0.go.resume() }
                self.waiting.removeAll { $0.count <= self.all.count }
            }
        }

        func wait(for count: Int) async {
            if all.count < count { await withCheckedContinuation { waiting.append((count, $0)) } }
        }
    }

    private let fixture = PipelineFixture()
    private let screen = Screen()
    private let ends = Ends()

    private func image(_ width: Int) throws -> Image {
        try Image(width: width, height: 1, pixels: [UInt8](repeating: 255, count: width * 4))
    }

    private func set(
        _ target: ImageTarget, _ url: URL?, _ options: ImageTarget.Options = .init(), as name: String = "1",
        policy: CachePolicy? = nil
    ) {
        target.setImage(
            ImageRequest(url, cache: policy), options: options, pipeline: fixture.pipeline,
            completion: ends.callback(name))
    }

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
    @Test func ofThreeTheLastIsShownAndEachEndsOnce() async throws {
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

    @Test func aPipelineThatCancelsAllEndsIt() async throws {
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        let target = ImageTarget(surface: screen)
        set(target, url)
        try await fixture.transport.waitForRequests(1)
        fixture.pipeline.cancelAll()
        await ends.wait(for: 1)
        #expect(ends.all == ["1 cancelled"])
    }

    @Test func anotherSizeMayStandIn() async throws {
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

    /// Whoever is told may ask for something else there and then: nothing of the former is seen or told after that.
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
        // The transport hears of it after the pipeline.
        while fixture.transport.cancelled.isEmpty { await Task.yield() }
        #expect(fixture.transport.cancelled.count == 1)
    }

    @Test func clearedItShowsNothing() async throws {
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
        target.show(try image(4))
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

    /// A is shown, B was called off: to ask for B again is to ask for B.
    @Test func whatWasCalledOffIsNotTakenForWhatIsShown() async throws {
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

    @Test func itMayLeaveTheShowingToItsUser() async throws {
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
    @Test func whatComesDuringATransition() async throws {
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

    @Test func aTargetThatNobodySeesIsLessUrgent() async throws {
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

    // MARK: - Many

    /// Targets that are bound anew all the time, as the rows of a list: none ever shows another's image.
    @Test func manyRebindsNeverShowAWrongImage() async throws {
        let count = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil ? 10_000 : 1_000_000
        let fixture = PipelineFixture(disk: false) {
            $0.cache = ImageCache(memory: .init(countLimit: 100), disk: nil)
        }
        let data = try (1...300).map { try image($0).data(as: .png) }
        let targets = (0..<200).map { _ in ImageTarget { _ in } }
        var wanted = [Int](repeating: 0, count: targets.count)
        var (ended, shown, wrong) = (0, 0, 0)
        var random = SplitMix(state: 7)
        for round in 0..<count {
            let (row, width) = (Int.random(in: 0..<200, using: &random), Int.random(in: 1...300, using: &random))
            wanted[row] = width
            let delay = Int.random(in: 0..<4, using: &random)
            let source = ImageSource.provider(Late(cacheKey: "\(width)", bytes: data[width - 1], turns: delay))
            targets[row].setImage(ImageRequest(source), pipeline: fixture.pipeline) { end in
                ended += 1
                guard case .shown(let response) = end else { return }
                shown += 1
                if response.image.width != width || wanted[row] != width { wrong += 1 }
            }
            if round % 20 == 0 { await Task.yield() }
            let others = targets.indices.filter { round % 97 == 0 && targets[$0].content.image != nil }
            // What is seen is the last that was asked for, or nothing of it yet.
            for row in others where targets[row].isShown { #expect(targets[row].content.image?.width == wanted[row]) }
        }
        while ended < count { await Task.yield() }
        #expect(wrong == 0 && shown > count / 100)
        for (row, target) in targets.enumerated() where wanted[row] > 0 {
            #expect(target.content.image?.width == wanted[row])
        }
    }

    private struct Late: ImageDataProvider {
        var cacheKey: String
        var bytes: Data
        var turns: Int

        func data() async throws -> Data {
            for _ in 0..<turns { await Task.yield() }
            return bytes
        }
    }

    @Test func hitsInMemoryNeverShowAPlaceholder() async throws {
        let urls = try ["png/rgb8.png", "png/rgba8.png", "jpeg/gray.jpg"].map { try fixture.serve($0) }
        for url in urls { _ = try await fixture.pipeline.image(for: url) }
        let target = ImageTarget(surface: screen)
        for round in 0..<10_000 { set(target, urls[round % 3], .init(placeholder: .custom("grey"))) }
        #expect(screen.contents.count == 10_000 && !screen.contents.contains("placeholder grey"))
        #expect(ends.all.count == 10_000)
    }
}

extension ImageTarget {
    fileprivate var isShown: Bool {
        if case .showing = state { true } else { false }
    }
}
