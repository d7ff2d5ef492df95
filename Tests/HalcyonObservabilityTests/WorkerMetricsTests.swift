import CoreMetrics
import Foundation
import Halcyon
import HalcyonObservability
import HalcyonTesting
import MetricsTestKit
import TestSupport
import Testing

/// The metrics of a pipeline whose files are decoded by workers.
@Suite(.timeLimit(.minutes(5)))
struct WorkerMetricsTests {
    @Test func workersAreCounted() async throws {
        let (backend, transport, folder) = (TestMetrics(), ScriptedTransport(), TemporaryFolder())
        let url = PipelineFixture.url("a.png")
        transport.answer(url, with: .data(try TestFiles.data("png/rgb8.png")))
        let worker = try Spawn.builtExecutable("halcyon-decode-worker").path(percentEncoded: false)
        var configuration = ImagePipeline.Configuration.testing(
            transport: transport, clock: ManualClock(), folder: folder.url)
        configuration.isolation = .isolated(workers: DecodeWorkers(count: 1, program: .file(worker)))
        let pipeline = ImagePipeline(configuration: configuration)

        let metrics = PipelineMetrics(pipeline, factory: backend)
        let running = Task { await metrics.run() }
        while pipeline.readerCount == 0 { await Task.yield() }
        _ = try await pipeline.image(for: url)
        running.cancel()
        await running.value
        #expect(try backend.expectGauge("halcyon_decode_workers").lastValue == 1)
        #expect(backend.counterTotal(label: "halcyon_decode_worker_starts_total") == 1)
        #expect(backend.counterTotal(label: "halcyon_decode_worker_faults_total") == 0)
        #expect(backend.counterTotal(label: "halcyon_decode_worker_milliseconds_total") > 0)
    }
}
