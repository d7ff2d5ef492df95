import CoreMetrics
import Halcyon
import HalcyonObservability
import HalcyonTesting
import MetricsTestKit
import TestSupport
import Testing

/// The metrics of a pipeline as a backend of swift-metrics receives them.
@Suite(.timeLimit(.minutes(5)))
struct PipelineMetricsTests {
    private let backend = TestMetrics()
    private let clock = ManualClock()
    private let transport = ScriptedTransport()
    private let folder = TemporaryFolder()
    private let pipeline: ImagePipeline
    private let url = PipelineFixture.url("a.png")

    init() throws {
        pipeline = ImagePipeline(
            configuration: .testing(transport: transport, clock: clock, folder: folder.url))
        transport.answer(url, with: .data(try TestFiles.data("png/rgb8.png")))
    }

    /// Runs the metrics around some work, until all of its loads are counted.
    ///
    /// - Parameter runs: the number of calls of `run`.
    private func measure(loads: Int, runs: Int = 1, _ work: () async throws -> Void) async throws {
        let metrics = PipelineMetrics(pipeline, factory: backend)
        let running = (0..<runs).map { _ in Task { await metrics.run() } }
        while pipeline.readerCount == 0 { await Task.yield() }
        try await work()
        while total("loads_total") < loads { await Task.yield() }
        for run in running { run.cancel() }
        for run in running { await run.value }
    }

    private func total(_ name: String, _ dimensions: (String, String)...) -> Int {
        let name = "halcyon_" + name
        return Int(
            dimensions.isEmpty
                ? backend.counterTotal(label: name) : backend.counterTotal(label: name, dimensions: dimensions))
    }

    private func times(_ name: String) throws -> [Int64] {
        try backend.expectTimer("halcyon_\(name)_seconds").values
    }

    @Test func aLoadIsCountedByItsEndAndItsStages() async throws {
        try await measure(loads: 2) {
            _ = try await pipeline.image(for: ImageRequest(url, processors: [.flip(.vertical)]))
            _ = try? await pipeline.image(for: PipelineFixture.url("none"))
            _ = try await pipeline.image(for: ImageRequest(url, processors: [.flip(.vertical)]))
        }
        #expect(total("loads_total", ("end", "network")) == 1 && total("loads_total", ("end", "failed")) == 1)
        #expect(total("failures_total", ("stage", "network"), ("code", "httpStatus")) == 1)
        #expect(total("transfers_total", ("status", "200")) == 1)
        #expect(total("transfers_total") == 1 && total("transfer_failures_total", ("code", "httpStatus")) == 1)
        #expect(total("transferred_bytes_total") == (try TestFiles.data("png/rgb8.png").count))
        #expect(total("cache_requests_total", ("level", "memory"), ("result", "hit")) == 1)
        #expect(total("cache_requests_total", ("level", "memory"), ("result", "miss")) == 2)
        #expect(total("cache_requests_total", ("level", "diskOriginal"), ("result", "miss")) == 2)
        for stage in ["load_duration", "decode_duration", "process_duration", "transfer_queue"] {
            #expect(try times(stage).count == 1 && times(stage).allSatisfy { $0 >= 0 })
        }
        let image = try #require(pipeline.cache.image(inMemoryFor: ImageRequest(url, processors: [.flip(.vertical)])))
        #expect(try backend.expectGauge("halcyon_memory_cache_bytes").lastValue == Double(image.cost))
        #expect(try backend.expectGauge("halcyon_memory_cache_images").lastValue == 1)
        #expect(try backend.expectGauge("halcyon_running_loads").lastValue == 0)
        #expect(try backend.expectGauge("halcyon_decode_memory_bytes").lastValue != nil)
    }

    /// Hits are events of the pipeline, and the metrics do not take them: the cache counts them.
    @Test func hitsThatAnotherReaderTakesAreNoLoads() async throws {
        let events = pipeline.events
        let reader = Task { for await _ in events {} }
        while pipeline.readerCount == 0 { await Task.yield() }
        let metrics = PipelineMetrics(pipeline, factory: backend)
        let running = Task { await metrics.run() }
        while pipeline.readerCount == 1 { await Task.yield() }
        for _ in 0..<5 { _ = try await pipeline.image(for: url) }
        _ = try? await pipeline.image(for: PipelineFixture.url("none"))
        while total("loads_total") < 2 { await Task.yield() }
        running.cancel()
        await running.value
        reader.cancel()
        #expect(total("loads_total") == 2)
    }

    @Test func aSecondRunCountsNothing() async throws {
        try await measure(loads: 1, runs: 3) { _ = try await pipeline.image(for: url) }
        #expect(total("loads_total") == 1 && total("transfers_total") == 1)
    }

    /// A run that is to follow at once must not find the turn taken for good.
    @Test func theNextRunGoesOnWhereOneEnds() async throws {
        let metrics = PipelineMetrics(pipeline, factory: backend)
        let first = Task { await metrics.run() }
        while pipeline.readerCount == 0 { await Task.yield() }
        let second = Task { await metrics.run() }
        first.cancel()
        await first.value
        while pipeline.readerCount == 0 { await Task.yield() }
        _ = try await pipeline.image(for: url)
        while total("loads_total") == 0 { await Task.yield() }
        second.cancel()
        await second.value
        #expect(total("loads_total") == 1 && pipeline.readerCount == 0)
    }

    @Test func sharedWorkCountsOnce() async throws {
        let gate = ScriptedTransportGate()
        var answer = ScriptedTransport.Answer.data(try TestFiles.data("png/rgb8.png"))
        answer.headGate = gate
        transport.answer(url, with: answer)
        try await measure(loads: 5) {
            let tasks = (0..<4).map { _ in pipeline.task(for: url) }
            let cancelled = pipeline.task(for: url)
            while await !pipeline.isWaitingForBytes(5) { await Task.yield() }
            cancelled.cancel()
            gate.open()
            for task in tasks { _ = try await task.response }
        }
        #expect(total("loads_total", ("end", "network")) == 4)
        #expect(total("loads_total", ("end", "cancelled")) == 1)
        #expect(total("transfers_total") == 1)
        #expect(try times("decode_duration").count == 1 && times("load_duration").count == 4)
    }

    @Test func retriesAreCounted() async throws {
        transport.answer(url, with: .status(503), .data(try TestFiles.data("png/rgb8.png")))
        try await measure(loads: 1) { _ = try await pipeline.image(for: url) }
        #expect(total("retries_total") == 1)
    }

    @Test func gaugesAreReadInTheInterval() async throws {
        let metrics = PipelineMetrics(pipeline, interval: .seconds(30), factory: backend)
        let running = Task { await metrics.run() }
        while pipeline.readerCount == 0 { await Task.yield() }
        _ = try await pipeline.image(for: url)
        let images = try backend.expectGauge("halcyon_memory_cache_images")
        #expect(images.values.isEmpty)
        while images.values.isEmpty {
            clock.advance(by: .seconds(30))
            await Task.yield()
        }
        #expect(images.lastValue == 1)
        running.cancel()
        await running.value
    }
}
