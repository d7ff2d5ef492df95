import Foundation
import Halcyon
import HalcyonTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct CancelAllTests {
    /// `HALCYON_SOAK` runs the full count.
    private static let loads = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil ? 1_000 : 100_000

    @Test func cancelAllEndsRunningLoadsNotLaterOnes() async throws {
        let fixture = PipelineFixture()
        let url = PipelineFixture.url("a.png")
        let data = try TestFiles.data("png/rgb8.png")
        fixture.transport.answer(url, with: .data(data).held(by: ScriptedTransportGate()), .data(data))
        let (ends, events) = (Counter(), fixture.pipeline.events)
        let task = fixture.pipeline.load(ImageRequest(url), callbackQueue: .inline) { result in
            if case .failure(is CancellationError) = result { ends.increment() }
        }
        let small = fixture.pipeline.task(for: ImageRequest(url, processors: [.resize(to: PixelSize(8, 8))]))
        let bytes = Task { try await fixture.pipeline.data(for: ImageRequest(url)) }
        let encoded = Task { try await fixture.pipeline.encodedImage(for: ImageRequest(url), as: .webp(quality: 0.8)) }
        try await fixture.transport.waitForRequests(1)
        await PipelineFixture.waitForStarts(4, in: events)
        fixture.pipeline.cancelAll()
        let next = fixture.pipeline.task(for: ImageRequest(url))
        await #expect(throws: CancellationError.self) { try await task.response }
        await #expect(throws: CancellationError.self) { try await small.response }
        await #expect(throws: CancellationError.self) { try await bytes.value }
        await #expect(throws: CancellationError.self) { try await encoded.value }
        #expect(try await next.response.origin == .network)
        #expect(ends.value == 1)
        try await fixture.transport.waitForCancellations(1)
        #expect(fixture.transport.cancelled.count == 1)
        #expect(await fixture.pipeline.runningCount == 0)
    }

    /// The gate stays closed: nothing but the cancellation ends the revalidation.
    @Test func cancelAllEndsBackgroundRevalidation() async throws {
        let clock = ManualClock()
        let fixture = PipelineFixture(clock: clock.timeSource)
        let url = PipelineFixture.url("a.png")
        let headers: HTTPHeaders = [
            "Cache-Control": "max-age=60, stale-while-revalidate=600", "ETag": "\"one\"",
        ]
        fixture.transport.answer(
            url, with: .data(try TestFiles.data("png/rgb8.png"), headers: headers),
            .status(304).held(by: ScriptedTransportGate()))
        _ = try await fixture.pipeline.image(for: url)
        clock.advance(by: .seconds(61))
        let stale = try await fixture.pipeline.response(for: ImageRequest(url))
        #expect(stale.cacheRule == .staleWhileRevalidate)
        fixture.pipeline.cancelAll()
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
        #expect(await fixture.pipeline.runningCount == 0)
    }

    @Test func cancelAllInACallbackEndsTheLoadThatTheCallbackBegan() async throws {
        let fixture = PipelineFixture()
        let (first, second) = (try fixture.serve("png/rgb8.png"), PipelineFixture.url("b.png"))
        fixture.transport.answer(
            second, with: .data(try TestFiles.data("png/rgb8.png")).held(by: ScriptedTransportGate()))
        let pipeline = fixture.pipeline
        let task = await withCheckedContinuation { continuation in
            pipeline.load(ImageRequest(first), callbackQueue: .inline) { _ in
                let task = pipeline.task(for: ImageRequest(second))
                pipeline.cancelAll()
                continuation.resume(returning: task)
            }
        }
        // The gate stays closed: nothing else ends it.
        await #expect(throws: CancellationError.self) { try await task.response }
    }

    @Test func cancelAllPreventsAlternatives() async throws {
        let fixture = PipelineFixture()
        let url = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        let other = try fixture.serve("png/rgba8.png")
        var request = ImageRequest(url)
        request.alternatives = [.remote(other)]
        let task = fixture.pipeline.task(for: request)
        let bytes = Task { [request] in try await fixture.pipeline.data(for: request) }
        try await fixture.transport.waitForRequests(1)
        fixture.pipeline.cancelAll()
        await #expect(throws: CancellationError.self) { try await task.response }
        bytes.cancel()
        _ = await bytes.result
        #expect(fixture.transport.requests(for: other).isEmpty)
    }

    @Test func aPrefetcherGoesOnWithTheNext() async throws {
        let fixture = PipelineFixture()
        let held = try fixture.serve("png/rgb8.png", gate: ScriptedTransportGate())
        let next = try fixture.serve("png/rgba8.png")
        let prefetcher = ImagePrefetcher(
            [ImageRequest(held), ImageRequest(next)], pipeline: fixture.pipeline, concurrency: 1)
        let run = Task { await prefetcher.run() }
        try await fixture.transport.waitForRequests(1)
        fixture.pipeline.cancelAll()
        let outcome = await run.value
        #expect(outcome.failed.map { $0.request.source } == [.remote(held)])
        #expect(outcome.failed.allSatisfy { $0.error is CancellationError })
        #expect(outcome.finished.map(\.source) == [.remote(next)])
    }

    @Test func aPipelineWithoutLoadsIsNotDisturbed() async throws {
        let fixture = PipelineFixture()
        fixture.pipeline.cancelAll()
        fixture.pipeline.cancelAll()
        let url = try fixture.serve("png/rgb8.png")
        _ = try await fixture.pipeline.image(for: url)
        fixture.pipeline.cancelAll()
        #expect(try await fixture.pipeline.response(for: ImageRequest(url)).origin == .memory)
    }

    /// Called again and again while others begin: each load ends once, in its image or cancelled.
    @Test func cancelAllEndsEachConcurrentLoadOnce() async throws {
        let fixture = PipelineFixture(disk: false)
        var urls: [URL] = []
        for file in ["png/rgb8.png", "png/rgba8.png", "jpeg/baseline-420.jpg"] { urls.append(try fixture.serve(file)) }
        let ended = Counter()
        let canceller = Task {
            while !Task.isCancelled {
                fixture.pipeline.cancelAll()
                // Answered once that is done: else it would be called faster than it can be done.
                _ = await fixture.pipeline.runningCount
            }
        }
        let all = urls
        await withTasks(Self.loads) { index in
            var request = ImageRequest(all[index % all.count])
            request.cachePolicy = .reload
            do {
                _ = try await fixture.pipeline.task(for: request).response
            } catch {
                // As good an end as the other, and the only other one.
                #expect(error is CancellationError)
            }
            ended.increment()
        }
        canceller.cancel()
        await canceller.value
        #expect(ended.value == Self.loads)
        while await fixture.pipeline.jobCount > 0 { await Task.yield() }
        #expect(await fixture.pipeline.runningCount == 0)
        _ = try await fixture.pipeline.image(for: urls[0])
    }

    /// Each task gets the error by itself, though one transfer and one decode were for all of them.
    @Test func emptyBodyFailsEachRequest() async throws {
        let fixture = PipelineFixture()
        let url = PipelineFixture.url("empty")
        let gate = ScriptedTransportGate()
        fixture.transport.answer(url, with: .data(Data()).held(by: gate), .data(Data()))
        let tasks = (0..<100).map { index in
            fixture.pipeline.task(
                for: ImageRequest(url, processors: index % 2 == 0 ? [] : [.resize(to: PixelSize(index, index))]))
        }
        try await fixture.transport.waitForRequests(1)
        while await !fixture.pipeline.isWaitingForBytes(100) { await Task.yield() }
        gate.open()
        for task in tasks {
            let error = await #expect(throws: ImagePipelineError.self) { try await task.response }
            #expect(error?.code == "notAnImage")
        }
        #expect(fixture.transport.requestCount == 1)
        // A later request gets the error as well, from memory or from the server.
        for _ in 0..<3 {
            let error = await #expect(throws: ImagePipelineError.self) { try await fixture.pipeline.image(for: url) }
            #expect(error?.code == "notAnImage")
        }
        #expect(await fixture.diskEntries() == 0)
    }
}
