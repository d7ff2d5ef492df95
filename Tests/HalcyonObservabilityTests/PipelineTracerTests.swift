import Halcyon
import HalcyonObservability
import HalcyonTesting
import InMemoryTracing
import TestSupport
import Testing
import Tracing

/// The spans of loads as a backend of swift-distributed-tracing receives them.
@Suite(.timeLimit(.minutes(5)))
struct PipelineTracerTests {
    private let tracer = InMemoryTracer()
    private let transport = ScriptedTransport()
    private let pipeline: ImagePipeline
    private let url = PipelineFixture.url("a.png")

    init() throws {
        var configuration = ImagePipeline.Configuration.testing(transport: transport)
        configuration.tracer = PipelineTracer(tracer)
        pipeline = ImagePipeline(configuration: configuration)
        transport.answer(url, with: .data(try TestFiles.data("png/rgb8.png")))
    }

    private func spans(_ name: String) -> [FinishedInMemorySpan] {
        tracer.finishedSpans.filter { $0.operationName == name }
    }

    /// Returns the spans of all loads, of which the last event comes just after the result.
    private func loads(_ count: Int) async -> [FinishedInMemorySpan] {
        while spans("halcyon.load").count < count { await Task.yield() }
        return spans("halcyon.load")
    }

    @Test func aLoadIsASpanBelowItsCallers() async throws {
        let request = ImageRequest(url, processors: [.flip(.vertical)])
        let parent = try await tracer.withSpan("page", context: .topLevel) { span in
            _ = try await pipeline.image(for: request)
            return span.context
        }
        let load = try #require(await loads(1).first)
        #expect(load.parentSpanID == parent.inMemorySpanContext?.spanID)
        #expect(load.attributes["halcyon.source"]?.toSpanAttribute() == .string("http://images.test/a.png"))
        #expect(load.attributes["halcyon.origin"]?.toSpanAttribute() == .string("network"))
        for stage in ["transfer", "decode", "process"] {
            let span = try #require(spans("halcyon." + stage).first)
            #expect(spans("halcyon." + stage).count == 1 && span.parentSpanID == load.spanID)
            #expect(span.startInstant.nanosecondsSinceEpoch <= span.endInstant.nanosecondsSinceEpoch)
            #expect(span.endInstant.nanosecondsSinceEpoch <= load.endInstant.nanosecondsSinceEpoch)
            #expect(span.attributes["halcyon.shared"] == nil)
        }
        #expect(load.events.map(\.name).contains("cache miss") && tracer.activeSpans.isEmpty)
        // An image in memory begins no load.
        _ = try await pipeline.image(for: request)
        #expect(spans("halcyon.load").count == 1)
    }

    @Test func sharedWorkIsBelowEachOfItsLoads() async throws {
        let gate = ScriptedTransportGate()
        var answer = ScriptedTransport.Answer.data(try TestFiles.data("png/rgb8.png"))
        answer.headGate = gate
        transport.answer(url, with: answer)
        let tasks = (0..<3).map { number in
            tracer.withSpan("page \(number)", context: .topLevel) { _ in pipeline.task(for: url) }
        }
        while await !pipeline.isWaitingForBytes(3) { await Task.yield() }
        gate.open()
        for task in tasks { _ = try await task.response }
        let loads = await loads(3)
        #expect(
            Set(loads.compactMap(\.parentSpanID))
                == Set(
                    tracer.finishedSpans.filter {
                        $0.operationName.hasPrefix("page")
                    }.map(\.spanID)))
        for stage in ["transfer", "decode"] {
            let spans = spans("halcyon." + stage)
            #expect(Set(spans.compactMap(\.parentSpanID)) == Set(loads.map(\.spanID)))
            #expect(spans.filter { $0.attributes["halcyon.shared"] == nil }.count == 1)
        }
    }

    @Test func failuresAndCancellations() async throws {
        _ = try? await pipeline.image(for: PipelineFixture.url("none?secret=1"))
        let failed = try #require(await loads(1).first)
        #expect(failed.status?.code == .error && failed.errors.count == 1)
        #expect(failed.attributes["halcyon.code"]?.toSpanAttribute() == .string("httpStatus"))
        #expect(!"\(failed)".contains("secret"))
        #expect(spans("halcyon.transfer").first?.status?.code == .error)
        // Held back, so that the load cannot end before it is cancelled.
        var held = ScriptedTransport.Answer.status(404)
        held.headGate = ScriptedTransportGate()
        transport.answer(PipelineFixture.url("other"), with: held)
        let task = pipeline.task(for: PipelineFixture.url("other"))
        task.cancel()
        #expect(await loads(2).last?.attributes["halcyon.cancelled"]?.toSpanAttribute() == .bool(true))
        #expect(tracer.activeSpans.isEmpty)
    }

    @Test func bytesAndRetriesAreTraced() async throws {
        transport.answer(url, with: .status(503), .data(try TestFiles.data("png/rgb8.png")))
        _ = try await pipeline.data(for: url)
        let load = try #require(await loads(1).first)
        #expect(load.events.map(\.name).contains("retry") && spans("halcyon.transfer").count == 1)
    }
}
