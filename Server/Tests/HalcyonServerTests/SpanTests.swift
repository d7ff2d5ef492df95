import Foundation
import InMemoryTracing
import Logging
import NIOConcurrencyHelpers
import Testing
import Tracing

@testable import HalcyonServer

/// The spans of requests, as a backend of swift-distributed-tracing receives them.
@Suite(.timeLimit(.minutes(5)))
struct SpanTests {
    private let tracer = InMemoryTracer()

    private func spans(_ name: String) -> [FinishedInMemorySpan] {
        tracer.finishedSpans.filter { $0.operationName == "halcyon.\(name)" }
    }

    /// Returns the spans of so many loads, of which the last event comes just after the answer.
    private func loads(_ count: Int) async -> [FinishedInMemorySpan] {
        while spans("load").count < count { await Task.yield() }
        return spans("load")
    }

    @Test func aRequestIsASpanOfItsClientsTraceAboveItsWork() async throws {
        try await ServerFixture.run(tracer: tracer) { server in
            let source = try server.serve("jpeg/baseline-420.jpg")
            let answer = try await server.get(
                "/fit-24x24,webp/\(source)",
                [InMemoryTracer.traceIDKey: "the-trace", InMemoryTracer.spanIDKey: "the-client"])
            #expect(answer.status == 200)
            let loads = await loads(2)
            let request = try #require(spans("request").first)
            #expect(request.kind == .server && request.parentSpanID == "the-client")
            #expect(request.attributes["http.response.status_code"]?.toSpanAttribute() == .int64(200))
            #expect(loads.allSatisfy { $0.parentSpanID == request.spanID })
            // The bytes are fetched by one load, and the answer is made of them by another.
            let ids = loads.map(\.spanID)
            for stage in ["transfer", "decode", "encode"] {
                #expect(spans(stage).count == 1)
                #expect(spans(stage).allSatisfy { $0.parentSpanID.map(ids.contains) == true }, "\(stage)")
            }
            #expect(tracer.finishedSpans.allSatisfy { $0.traceID == "the-trace" })
        }
    }

    @Test func anAnswerThatIsInMemoryIsASpanWithoutWork() async throws {
        try await ServerFixture.run(tracer: tracer) { server in
            let source = try server.serve("jpeg/baseline-420.jpg", headers: ["Cache-Control": "max-age=60"])
            _ = try await server.get("/fit-24x24,webp/\(source)")
            _ = await loads(2)
            let again = try await server.get("/fit-24x24,webp/\(source)")
            #expect(again.status == 200)
            while spans("request").count < 2 { await Task.yield() }
            #expect(spans("load").count == 2)
        }
    }

    /// Whoever answers, the line of the log tells the request's span.
    @Test func aLineOfTheLogIsWrittenInTheSpan() async throws {
        let lines = NIOLockedValueBox<[[String: String]]>([])
        let logger = Logger(label: "test") { _ in
            var handler = JSONLogHandler(label: "test") { line in
                guard let fields = try? JSONSerialization.jsonObject(with: line) as? [String: Any] else { return }
                lines.withLockedValue { $0.append(fields.mapValues { "\($0)" }) }
            }
            handler.metadataProvider = Logger.MetadataProvider {
                ServiceContext.current?.inMemorySpanContext.map { ["span": "\($0.spanID)"] } ?? [:]
            }
            return handler
        }
        try await ServerFixture.run(logger: logger, tracer: tracer) { server in
            let source = try server.serve("jpeg/baseline-420.jpg", headers: ["Cache-Control": "max-age=60"])
            for number in 1...3 {
                _ = try await server.get("/fit-24x24,webp/\(source)", ["X-Request-Id": "r-\(number)"])
                while spans("request").count < number { await Task.yield() }
                let line = lines.withLockedValue { $0.first { $0["request_id"] == "r-\(number)" } }
                #expect(line?["span"] == spans("request").last?.spanID)
            }
        }
    }

    @Test func aFailureIsTheStatusOfItsSpan() async throws {
        try await ServerFixture.run(tracer: tracer) { server in
            let answer = try await server.get("/fit-24x24/ftp://images.test/a.jpg")
            #expect(answer.status == 403)
            while spans("request").isEmpty { await Task.yield() }
            let status = spans("request").first?.attributes["http.response.status_code"]?.toSpanAttribute()
            #expect(status == .int64(403))
        }
    }
}
