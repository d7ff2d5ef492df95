import Foundation
import HalcyonTesting
import TestSupport
import Testing

@testable import Halcyon

/// The content that stays on a target while another load is tried.
@MainActor @Suite(.timeLimit(.minutes(5))) struct ImageTargetStayTests: TargetSuite {
    let fixture = PipelineFixture()
    private let screen = TargetScreen()
    let ends = TargetEnds()

    /// Neither its failure's image nor nothing takes its place.
    @Test func aReloadThatFailsKeepsTheImage() async throws {
        let url = try fixture.serve("png/rgb8.png")
        let target = ImageTarget(surface: screen)
        set(target, url, .init(failure: .image(try image(2))))
        await ends.wait(for: 1)
        let shown = screen.contents
        fixture.transport.answer(url, with: .status(404))
        for count in 2...3 {
            target.reload(completion: ends.callback("\(count)"))
            await ends.wait(for: count)
        }
        #expect(ends.all == ["1 shown", "2 failed", "3 failed"] && screen.contents == shown)
        #expect(screen.states.last == "failed")
        // Where no part of the image is shown, the image for failures is.
        set(target, PipelineFixture.url("none"), .init(failure: .image(try image(2))), as: "4")
        await ends.wait(for: 4)
        target.clear()
        set(target, PipelineFixture.url("none"), .init(failure: .image(try image(2))), as: "5")
        await ends.wait(for: 5)
        target.reload(completion: ends.callback("6"))
        await ends.wait(for: 6)
        #expect(screen.contents.last == "failure \(PixelSize(2, 1))")
    }

    @Test func aReloadAfterACancelIsOfWhatIsShown() async throws {
        let (first, second) = (
            try fixture.serve("png/rgb8.png"), try fixture.serve("png/rgba8.png", gate: ScriptedTransportGate())
        )
        let target = ImageTarget(surface: screen)
        set(target, first)
        await ends.wait(for: 1)
        set(target, second, .init(keepsCurrent: true), as: "2")
        target.cancel()
        #expect(target.request?.source == .remote(first))
        target.reload(completion: ends.callback("3"))
        await ends.wait(for: 3)
        #expect(ends.all == ["1 shown", "2 cancelled", "3 shown"])
    }

    /// An image that stood in for another one that was called off is not the image before it.
    @Test func cancelledStandInIsNotTheShownImage() async throws {
        let (first, second) = (try fixture.serve("png/rgb8.png"), try fixture.serve("png/rgba8.png"))
        _ = try await fixture.pipeline.response(for: ImageRequest(second))
        let screen = SizedScreen(8)
        let target = ImageTarget(surface: screen)
        set(target, first)
        await ends.wait(for: 1)
        screen.resize(to: nil)
        set(target, second, as: "2")
        guard case .image(let standIn) = target.content else { return #expect(Bool(false), "\(target.content)") }
        #expect(target.hasStandIn && standIn.source == .remote(second))
        target.cancel()
        screen.resize(to: 8)
        set(target, first, as: "3")
        guard case .image(let response) = target.content else { return #expect(Bool(false), "\(target.content)") }
        #expect(response.source == .remote(first) && ends.all == ["1 shown", "2 cancelled", "3 shown"])
    }

    /// The same image at another size: no callback but that of the image is made.
    @Test func aRenewalIsSilent() async throws {
        let url = try fixture.serve("png/rgb8.png")
        let screen = SizedScreen(4)
        let target = ImageTarget(surface: screen)
        var policy = CachePolicy.default
        policy.writes = []
        set(target, url, .init(placeholder: .image(try image(2)), transition: .fade()), as: "1", policy: policy)
        await ends.wait(for: 1)
        let (contents, states) = (screen.contents, screen.states)
        screen.resize(to: 8)
        set(target, url, as: "2", policy: policy)
        #expect(screen.states == states && target.isLoading)
        await ends.wait(for: 2)
        let shown = try #require(target.content.image).size
        #expect(max(shown.width, shown.height) == 8 && !target.isOutgrown)
        #expect(screen.contents == contents + ["\(shown)"] && screen.states == states + ["showing"])
        fixture.transport.answer(url, with: .status(404))
        screen.resize(to: 16)
        set(target, url, as: "3", policy: policy)
        await ends.wait(for: 3)
        #expect(screen.states == states + ["showing"] && !target.isLoading && ends.all.last == "3 failed")
        guard case .showing = target.state else { return #expect(Bool(false), "\(target.state)") }
        #expect(target.isOutgrown)
        // By itself it reports nothing but the image.
        fixture.transport.answer(url, with: .data(try TestFiles.data("png/rgb8.png")))
        fixture.pipeline.forgetFailures()
        target.renew()
        #expect(target.isLoading && screen.states == states + ["showing"])
        while target.isLoading { await Task.yield() }
        #expect(screen.contents.count == contents.count + 2 && screen.states == states + ["showing", "showing"])
        #expect(ends.all.count == 3 && !target.isOutgrown)
    }

    /// T-48: what is there in the same call came without a wait, from the disk too.
    @Test func aSynchronousDiskNeedsNoTransition() async throws {
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        await fixture.pipeline.cache.disk?.flush()
        fixture.pipeline.cache.clearMemory()
        let target = ImageTarget(surface: screen)
        set(target, url, .init(transition: .fade()), policy: .synchronousDisk)
        #expect(ends.all == ["1 shown"] && screen.ends.isEmpty)
        guard case .image(let response) = target.content else { return #expect(Bool(false), "\(target.content)") }
        #expect(response.origin == .disk)
    }
}
