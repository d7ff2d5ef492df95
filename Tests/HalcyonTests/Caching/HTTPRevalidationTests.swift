import Foundation
import HalcyonTesting
import TestSupport
import Testing

@testable import Halcyon

/// The state of the caches while an image is revalidated, and after it.
@Suite(.timeLimit(.minutes(5)))
struct HTTPRevalidationTests {
    private let clock = ManualClock()
    private let url = PipelineFixture.url("a")
    private let whileRevalidate: HTTPHeaders = [
        "Cache-Control": "max-age=60, stale-while-revalidate=600", "ETag": "\"one\"",
    ]

    /// A pipeline that has loaded an image which `after` seconds have made stale.
    private func fixture(
        _ headers: HTTPHeaders, after: Int = 61, then answers: ScriptedTransport.Answer...
    ) async throws -> PipelineFixture {
        // A remembered failure would take the place of the server's response.
        let fixture = PipelineFixture(clock: clock.timeSource) { $0.rememberedFailures = .none }
        let first = ScriptedTransport.Answer.data(try TestFiles.data("png/rgb8.png"), headers: headers)
        fixture.transport.answer(url, with: first)
        _ = try await fixture.pipeline.image(for: url)
        await fixture.pipeline.cache.disk?.flush()
        clock.advance(by: .seconds(after))
        switch answers.count {
        case 1: fixture.transport.answer(url, with: answers[0])
        default: fixture.transport.answer(url, with: answers[0], answers[1])
        }
        return fixture
    }

    private func end(_ fixture: PipelineFixture) async {
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
        // A revalidation is noted as under way a moment longer than its jobs, and no other one begins meanwhile.
        while await !fixture.pipeline.coordinator.revalidations.isEmpty { await Task.yield() }
        await fixture.pipeline.cache.disk?.flush()
    }

    @Test(arguments: [true, false])
    func aHundredRevalidationsAreOne(forced: Bool) async throws {
        let gate = ScriptedTransportGate()
        let fixture = try await fixture(
            ["Cache-Control": "max-age=60", "ETag": "\"one\""], after: forced ? 0 : 61,
            then: .status(304).held(by: gate))
        let request = ImageRequest(url, cachePolicy: forced ? .revalidate : .default)
        let tasks = (0..<100).map { _ in fixture.pipeline.task(for: request) }
        while await !fixture.pipeline.isWaitingForBytes(100) { await Task.yield() }
        gate.open()
        for task in tasks { #expect(try await task.response.cacheRule == .revalidated) }
        #expect(fixture.transport.requestCount == 2)
    }

    @Test(arguments: [true, false])
    func aHundredStaleImagesComeAtOnceAndAreRevalidatedOnce(inMemory: Bool) async throws {
        let gate = ScriptedTransportGate()
        let fixture = try await fixture(whileRevalidate, then: .status(304).held(by: gate))
        if !inMemory { fixture.pipeline.cache.clearMemory() }
        let tasks = (0..<100).map { _ in fixture.pipeline.task(for: ImageRequest(url)) }
        // None of them waits for the gate.
        for task in tasks { #expect(try await task.response.cacheRule == .staleWhileRevalidate) }
        try await fixture.transport.waitForRequests(2)
        gate.open()
        await end(fixture)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test(arguments: [true, false])
    func backgroundRevalidationUpdatesBothCaches(changed: Bool) async throws {
        let answer = ScriptedTransport.Answer.data(
            try TestFiles.data("jpeg/gray.jpg"), headers: ["Cache-Control": "max-age=60"])
        let fixture = try await fixture(
            whileRevalidate, then: changed ? answer : .status(304, headers: ["Cache-Control": "max-age=60"]))
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).image.info.format == .png)
        try await fixture.transport.waitForRequests(2)
        await end(fixture)
        clock.advance(by: .seconds(59))
        for origin in [ImageOrigin.memory, .disk] {
            let found = try await fixture.pipeline.response(for: ImageRequest(url))
            #expect(found.origin == origin)
            #expect(found.cacheRule == .fresh)
            #expect(found.image.info.format == (changed ? .jpeg : .png))
            fixture.pipeline.cache.clearMemory()
        }
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func aRevalidationBehindThatFailsLosesNothing() async throws {
        let fixture = try await fixture(whileRevalidate, then: .status(500), .status(304))
        for requests in 2...3 {
            let found = try await fixture.pipeline.response(for: ImageRequest(url))
            #expect(found.cacheRule == .staleWhileRevalidate)
            try await fixture.transport.waitForRequests(requests)
            await end(fixture)
        }
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).cacheRule == .fresh)
    }

    @Test func noStoreRequestIsNotRevalidatedInBackground() async throws {
        let fixture = try await fixture(whileRevalidate, then: .status(304))
        let found = try await fixture.pipeline.response(for: ImageRequest(url, cachePolicy: .noStore))
        #expect(found.cacheRule == .revalidated)
        #expect(fixture.transport.requestCount == 2)
    }

    @Test(arguments: [404, 500])
    func aRevalidationThatFailsLosesNothing(status: Int) async throws {
        let fixture = try await fixture(
            ["Cache-Control": "max-age=60", "ETag": "\"one\""], then: .status(status), .status(304))
        await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.image(for: url) }
        fixture.pipeline.cache.clearMemory()
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).cacheRule == .revalidated)
        #expect(fixture.transport.requests.last?.headers["If-None-Match"] == "\"one\"")
    }

    @Test func revalidationDoesNotRestoreRemovedEntry() async throws {
        let gate = ScriptedTransportGate()
        let fixture = try await fixture(
            ["Cache-Control": "max-age=60", "ETag": "\"one\""], then: .status(304).held(by: gate))
        let task = fixture.pipeline.task(for: ImageRequest(url))
        try await fixture.transport.waitForRequests(2)
        await fixture.pipeline.cache.remove(ImageRequest(url))
        gate.open()
        #expect(try await task.response.cacheRule == .revalidated)
        #expect(await fixture.diskEntries() == 0)
    }

    /// The user's own validators are about what the user has, not about what is here.
    @Test func a304ForWhatIsNotHereIsAskedForOnceMore() async throws {
        let fixture = PipelineFixture(clock: clock.timeSource)
        fixture.transport.answer(url, with: .status(304), .data(try TestFiles.data("png/rgb8.png")))
        var request = ImageRequest(url)
        request.network.headers = ["If-None-Match": "\"mine\""]
        let response = try await fixture.pipeline.response(for: request)
        #expect(response.cacheRule == .stored)
        #expect(fixture.transport.requests.map { $0.headers.contains("If-None-Match") } == [true, false])
    }

    @Test func a304ThatIsRepeatedWithoutValidatorsIsAnError() async throws {
        let fixture = PipelineFixture(clock: clock.timeSource)
        fixture.transport.answer(url, with: .status(304))
        var request = ImageRequest(url)
        request.network.headers = ["If-None-Match": "\"mine\""]
        await #expect {
            try await fixture.pipeline.image(for: request)
        } throws: {
            ($0 as? ImagePipelineError)?.code == "httpStatus"
        }
        #expect(fixture.transport.requestCount == 2)
    }

    @Test func reloadIgnoresImmutable() async throws {
        let fixture = try await fixture(
            ["Cache-Control": "max-age=600, immutable", "ETag": "\"one\""],
            then: .data(try TestFiles.data("jpeg/gray.jpg")))
        let found = try await fixture.pipeline.response(for: ImageRequest(url, cachePolicy: .reload))
        #expect(found.cacheRule == .stored)
        #expect(fixture.transport.requests.last?.headers["If-None-Match"] == nil)
    }

    @Test func nonHTTPSourceHasNoCacheRule() async throws {
        let fixture = PipelineFixture(clock: clock.timeSource)
        let data = try TestFiles.data("png/rgb8.png")
        for policy in [CachePolicy.default, .revalidate] {
            let response = try await fixture.pipeline.response(
                for: ImageRequest(.data(data, key: "d"), cachePolicy: policy))
            #expect(response.cacheRule == nil)
        }
    }

    @Test func synchronousDiskReadHonoursRequestHeaders() async throws {
        let fixture = try await fixture(["Cache-Control": "max-age=60"], after: 30, then: .status(404))
        fixture.pipeline.cache.clearMemory()
        var request = ImageRequest(url, cachePolicy: .synchronousDisk)
        request.network.headers = ["Cache-Control": "max-age=29"]
        await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.image(for: request) }
        request.network.headers = ["Cache-Control": "max-age=30"]
        let found = try await fixture.pipeline.response(for: request)
        #expect(found.origin == .disk)
        #expect(found.cacheRule == .fresh)
    }
}
