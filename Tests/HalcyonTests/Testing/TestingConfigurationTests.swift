import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

/// The parts with which the users of Halcyon test their programs.
@Suite(.timeLimit(.minutes(5)))
struct TestingConfigurationTests {
    private let transport = ScriptedTransport()
    private let clock = ManualClock()
    private let url = PipelineFixture.url("png/rgb8.png")

    private func serve(_ headers: HTTPHeaders = HTTPHeaders()) throws {
        transport.answer(url, with: .data(try TestFiles.data("png/rgb8.png"), headers: headers))
    }

    @Test func freshnessAndExpirationAreOfTheClock() async throws {
        let folder = TemporaryFolder()
        let pipeline = ImagePipeline(
            configuration: .testing(transport: transport, clock: clock, folder: folder.url))
        try serve(["Cache-Control": "max-age=60"])
        // Each load ends once it is stored: an entry that is written after the clock was advanced would be a young one.
        var request = ImageRequest(url)
        request.cachePolicy.waitsForStore = true
        #expect(try await pipeline.response(for: request).origin == .network)
        clock.advance(by: .seconds(59))
        pipeline.cache.clearMemory()
        #expect(try await pipeline.response(for: request).origin == .disk)
        clock.advance(by: .seconds(2))
        #expect(try await pipeline.response(for: request).origin == .network)
        // A week on disk. The last load may still be about to release its image, which memory finds for as long as somebody has it.
        clock.advance(by: .seconds(8 * 86_400))
        pipeline.cache.clearMemory()
        var cached = ImageRequest(url)
        cached.cachePolicy = .onlyIfCached
        await #expect(throws: ImagePipelineError.self) { try await pipeline.image(for: cached) }
        await pipeline.shutdown()
    }

    /// Five minutes in memory, for an image that nobody else has. A sweep, which the clock wakes too, removes nothing before that.
    @Test func memoryExpiresByTheClock() async throws {
        let pipeline = ImagePipeline(configuration: .testing(transport: transport, clock: clock))
        try await Self.storeAnImage(in: pipeline.cache, for: url)
        clock.advance(by: .seconds(299))
        #expect(pipeline.cache.memoryStatistics.count == 1)
        clock.advance(by: .seconds(2))
        #expect(pipeline.cache.image(inMemoryFor: url) == nil)
    }

    /// Apart, so that no variable of the test has the image.
    private static func storeAnImage(in cache: ImageCache, for url: URL) async throws {
        try await cache.store(Image(data: TestFiles.data("png/rgb8.png")), for: url)
    }

    @Test func failuresAreRememberedByTheClock() async throws {
        let pipeline = ImagePipeline(configuration: .testing(transport: transport, clock: clock))
        for _ in 0..<2 {
            await #expect(throws: ImagePipelineError.self) { try await pipeline.image(for: url) }
        }
        #expect(transport.requestCount == 1)
        clock.advance(by: .seconds(61))
        await #expect(throws: ImagePipelineError.self) { try await pipeline.image(for: url) }
        #expect(transport.requestCount == 2)
    }

    @Test func retriesWaitForNothing() async throws {
        let pipeline = ImagePipeline(configuration: .testing(transport: transport, clock: clock))
        transport.answer(url, with: .status(503), .status(503), .data(try TestFiles.data("png/rgb8.png")))
        #expect(try await pipeline.response(for: url).metrics.retryCount == 2)
    }

    @Test func retriesWaitForTheirClock() async throws {
        let delays = ManualClock()
        var configuration = ImagePipeline.Configuration.testing(
            transport: transport, clock: clock, retryClock: delays)
        configuration.changeDownloader { $0.retry = RetryPolicy(delay: .backoff(base: .seconds(4))) }
        let pipeline = ImagePipeline(configuration: configuration)
        transport.answer(url, with: .status(503), .data(try TestFiles.data("png/rgb8.png")))
        let task = pipeline.task(for: url)
        try await delays.waitForSleepers()
        // Without jitter, the whole delay.
        delays.advance(by: .seconds(3))
        #expect(transport.requestCount == 1 && task.status == .running(nil))
        delays.advance(by: .seconds(1))
        #expect(try await task.response.origin == .network)
    }

    @Test func aProcessorIsCancelledAtACheck() throws {
        let image = try Image(contentsOf: TestFiles.url("png/rgb8.png"))
        _ = try ThreeChecks().process(image, context: .cancelled(atCheck: 4))
        for check in 1...3 {
            #expect(throws: CancellationError.self) {
                try ThreeChecks().process(image, context: .cancelled(atCheck: check))
            }
        }
        let context = WorkContext.cancelled(atCheck: 3)
        #expect((0..<5).map { _ in context.isCancelled } == [false, false, true, true, true])
    }

    private struct ThreeChecks: ImageProcessor {
        func encode(into key: inout KeyEncoder) { key.encode(type: "test.checks", version: 1) }

        func process(_ image: Image, context: WorkContext) throws -> Image {
            for _ in 0..<3 { try context.checkCancellation() }
            return image
        }
    }
}
