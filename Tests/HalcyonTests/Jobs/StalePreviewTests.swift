import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// T-22: what is kept is shown while the server is asked whether it still holds.
@Suite(.timeLimit(.minutes(5)))
struct StalePreviewTests {
    private let clock = ManualClock()
    private let url = PipelineFixture.url("a")
    private static let short: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"one\""]

    private var showing: CachePolicy {
        var policy = CachePolicy.default
        policy.showsStale = true
        return policy
    }

    /// A pipeline whose image has got stale, in memory or only on the disk.
    private func fixture(
        _ headers: HTTPHeaders = Self.short, inMemory: Bool, then answer: ScriptedTransport.Answer,
        request: ImageRequest? = nil
    ) async throws -> PipelineFixture {
        let fixture = PipelineFixture(clock: clock.timeSource) { $0.rememberedFailures = .none }
        fixture.transport.answer(url, with: .data(try TestFiles.data("png/rgb8.png"), headers: headers))
        _ = try await fixture.pipeline.image(for: request ?? ImageRequest(url))
        #expect(await fixture.pipeline.shutdown(within: .seconds(300)))
        clock.advance(by: .seconds(61))
        if !inMemory { fixture.pipeline.cache.clearMemory() }
        fixture.transport.answer(url, with: answer)
        return fixture
    }

    /// The previews of a load, whose first one opens the gate, and its end.
    private func watch(
        _ fixture: PipelineFixture, _ request: ImageRequest, _ gate: ScriptedTransportGate?
    ) async -> (previews: [ImagePreview], end: Result<ImageResponse, any Error>?) {
        var previews: [ImagePreview] = []
        var end: Result<ImageResponse, any Error>?
        do {
            for try await event in fixture.pipeline.events(for: request) {
                switch event {
                case .progress: break
                case .preview(let preview):
                    previews.append(preview)
                    gate?.open()
                case .finished(let response): end = .success(response)
                }
            }
        } catch {
            end = .failure(error)
        }
        return (previews, end)
    }

    @Test(arguments: [true, false])
    func stalePreviewEqualsImageAfterNotModified(inMemory: Bool) async throws {
        let gate = ScriptedTransportGate()
        let fixture = try await fixture(inMemory: inMemory, then: .status(304).held(by: gate))
        // The gate opens only once the preview is there.
        let (previews, end) = await watch(fixture, ImageRequest(url, cachePolicy: showing), gate)
        let response = try #require(try end?.get())
        #expect(previews.count == 1)
        #expect(response.cacheRule == .revalidated)
        let preview = try #require(previews.first)
        #expect(preview.info.isPreview)
        #expect(!response.image.info.isPreview)
        #expect(Image(bitmap: preview.bitmap, info: preview.info).hasSamePixels(as: response.image))
        #expect(fixture.transport.requests.last?.headers["If-None-Match"] == "\"one\"")
        #expect(fixture.transport.requestCount == 2)
    }

    @Test(arguments: [true, false])
    func aNewImageFollowsTheStaleOne(inMemory: Bool) async throws {
        let gate = ScriptedTransportGate()
        let fixture = try await fixture(
            inMemory: inMemory, then: .data(try TestFiles.data("jpeg/gray.jpg")).held(by: gate))
        let (previews, end) = await watch(fixture, ImageRequest(url, cachePolicy: showing), gate)
        let response = try #require(try end?.get())
        #expect(previews.map(\.info.format) == [.png])
        #expect(response.image.info.format == .jpeg)
        #expect(response.cacheRule == .replaced)
    }

    /// An image made of the source's bytes is processed as the final image will be; a finished image of the disk is shown as it
    /// is.
    @Test(arguments: [CachePolicy.default, .storeProcessed])
    func aStaleImageOfTheDiskIsProcessed(stored: CachePolicy) async throws {
        let gate = ScriptedTransportGate()
        var request = ImageRequest(
            url, processors: [.crop(to: PixelSize(5, 4)), .flip(.vertical)], cachePolicy: stored)
        let fixture = try await fixture(inMemory: false, then: .status(304).held(by: gate), request: request)
        request.cachePolicy.showsStale = true
        let (previews, end) = await watch(fixture, request, gate)
        #expect(previews.map(\.size) == [PixelSize(5, 4)])
        let image = try #require(try end?.get()).image
        let preview = try #require(previews.first)
        #expect(Image(bitmap: preview.bitmap, info: preview.info).hasSamePixels(as: image))
    }

    @Test func freshImageIsPreviewedDuringForcedRevalidation() async throws {
        let gate = ScriptedTransportGate()
        let fixture = try await fixture(
            ["Cache-Control": "max-age=1000", "ETag": "\"one\""], inMemory: true, then: .status(304).held(by: gate))
        let (previews, end) = await watch(fixture, ImageRequest(url, cachePolicy: .showStaleAndRevalidate), gate)
        #expect(previews.count == 1)
        #expect(try end?.get().cacheRule == .revalidated)
        // And by the usual policy it is simply the answer.
        #expect(await watch(fixture, ImageRequest(url, cachePolicy: showing), nil).previews.isEmpty)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func aFailureEndsInItsErrorUnlessTheServerAllowsTheStaleOne() async throws {
        for isAllowed in [false, true] {
            let gate = ScriptedTransportGate()
            let allowed: HTTPHeaders = ["Cache-Control": "max-age=60, stale-if-error=600", "ETag": "\"one\""]
            let fixture = try await fixture(
                isAllowed ? allowed : Self.short, inMemory: true, then: .status(500).held(by: gate))
            var request = ImageRequest(url, cachePolicy: showing)
            request.network.retries = 0
            let (previews, end) = await watch(fixture, request, gate)
            #expect(previews.count == 1)
            switch end {
            case .success(let response): #expect(isAllowed && response.cacheRule == .staleIfError)
            case .failure(let error): #expect(!isAllowed && (error as? ImagePipelineError)?.code == "httpStatus")
            case nil: Issue.record("no end")
            }
        }
    }

    @Test(arguments: [true, false])
    func withoutTheOptionNothingIsShown(inMemory: Bool) async throws {
        let fixture = try await fixture(inMemory: inMemory, then: .status(304))
        let (previews, end) = await watch(fixture, ImageRequest(url), nil)
        #expect(previews.isEmpty)
        #expect(try end?.get().cacheRule == .revalidated)
    }

    /// The server forbids it, the fields are others, the policy reads nothing or may not ask.
    @Test func unusableStaleImageIsNotShown() async throws {
        for control in ["no-cache", "max-age=60, must-revalidate"] {
            for inMemory in [true, false] {
                let fixture = try await fixture(
                    ["Cache-Control": control, "ETag": "\"one\""], inMemory: inMemory, then: .status(304))
                #expect(await watch(fixture, ImageRequest(url, cachePolicy: showing), nil).previews.isEmpty)
            }
        }
        let new = ScriptedTransport.Answer.data(try TestFiles.data("jpeg/gray.jpg"))
        let varied = try await fixture(Self.short.merging(["Vary": "X-Kind"]), inMemory: true, then: new)
        var other = ImageRequest(url, cachePolicy: showing)
        other.network.headers.set("X-Kind", "b")
        #expect(await watch(varied, other, nil).previews.isEmpty)
        let reloaded = try await fixture(inMemory: true, then: new)
        var reload = ImageRequest(url, cachePolicy: .reload)
        reload.cachePolicy.showsStale = true
        #expect(await watch(reloaded, reload, nil).previews.isEmpty)
    }

    /// Loads with and without the option share the transfer, and a late subscriber sees the preview at once.
    @Test func theTransferIsSharedAndTheLateOneSeesThePreview() async throws {
        let gate = ScriptedTransportGate()
        let fixture = try await fixture(inMemory: false, then: .status(304).held(by: gate))
        let plain = fixture.pipeline.task(for: ImageRequest(url))
        try await fixture.transport.waitForRequests(2)
        for _ in 0..<2 {
            let task = fixture.pipeline.task(for: ImageRequest(url, cachePolicy: showing))
            var previews = 0
            for try await event in task.events {
                guard case .preview = event else { continue }
                previews += 1
                break
            }
            #expect(previews == 1)
        }
        gate.open()
        #expect(try await plain.response.cacheRule == .revalidated)
        #expect(fixture.transport.requestCount == 2)
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
    }

    @Test func aLoadThatIsCalledOffWhileItShowsEndsOnce() async throws {
        let fixture = try await fixture(inMemory: false, then: .status(304).held(by: ScriptedTransportGate()))
        let task = fixture.pipeline.task(for: ImageRequest(url, cachePolicy: showing))
        try await fixture.transport.waitForRequests(2)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.response }
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
        #expect(fixture.pipeline.cache.image(inMemoryFor: url) == nil)
    }
}
