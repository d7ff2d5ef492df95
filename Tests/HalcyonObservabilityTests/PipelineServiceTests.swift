import Halcyon
import HalcyonObservability
import HalcyonTesting
import Logging
import MetricsTestKit
import ServiceLifecycle
import TestSupport
import Testing

/// A pipeline in a group of services.
@Suite(.timeLimit(.minutes(5)))
struct PipelineServiceTests {
    private let folder = TemporaryFolder()
    private let transport = ScriptedTransport()
    private let url = PipelineFixture.url("a.png")

    private func pipeline() throws -> ImagePipeline {
        transport.answer(url, with: .data(try TestFiles.data("png/rgb8.png"), headers: ["Cache-Control": "max-age=60"]))
        return ImagePipeline(configuration: .testing(transport: transport, folder: folder.url))
    }

    @Test(arguments: [true, false]) func theDiskIsWrittenAtTheEnd(isGraceful: Bool) async throws {
        let (pipeline, backend) = (try pipeline(), TestMetrics())
        let service = PipelineService(pipeline, metrics: PipelineMetrics(pipeline, factory: backend))
        let group = ServiceGroup(services: [service], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let running = Task { try await group.run() }
        while pipeline.readerCount == 0 { await Task.yield() }
        _ = try await pipeline.image(for: url)
        if isGraceful { await group.triggerGracefulShutdown() } else { running.cancel() }
        _ = try? await running.value
        #expect(pipeline.readerCount == 0)
        #expect(try backend.expectGauge("halcyon_memory_cache_images").lastValue == 1)
        let second = ImagePipeline(configuration: .testing(transport: transport, folder: folder.url))
        #expect(try await second.response(for: url).origin == .disk)
    }
}
