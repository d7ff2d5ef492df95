import HTTPTypes
import Hummingbird
import NIOCore
import Tracing

/// The answers of the port for pictures.
struct ServerResponder: HTTPResponder {
    let handler: ImageHandler
    let health: HealthCheck
    let tracer: (any Tracer)?

    func respond(to request: Request, context: ServerRequestContext) async throws -> Response {
        guard request.method == .get || request.method == .head else {
            return AdminResponder.text(.methodNotAllowed, "only GET and HEAD\n", [.allow: "GET, HEAD"])
        }
        if let answer = await AdminResponder.answer(request, health) { return answer }
        let tracer = tracer ?? InstrumentationSystem.tracer
        let parent = Self.parent(request.headers, tracer)
        return await tracer.withSpan(Self.spanName, context: parent, ofKind: .server) { span in
            let response = await handler.respond(request, context)
            span.attributes[Self.statusAttribute] = response.status.code
            return response
        }
    }

    private static let spanName = "halcyon.request"
    private static let statusAttribute = "http.response.status_code"

    /// The context of a request: a place in its client's trace.
    private static func parent(_ fields: HTTPFields, _ tracer: any Tracer) -> ServiceContext {
        var parent = ServiceContext.current ?? .topLevel
        tracer.extract(fields, into: &parent, using: FieldExtractor())
        return parent
    }

    // MARK: - Requests that have been answered before

    /// Returns the request as one that has been answered before; nil for all others, for the last one of a connection, and for one
    /// with a body, whose answer does not wait for that.
    func warm(_ request: HTTPRequest) -> WarmRequest? {
        let fields = request.headerFields
        guard request.method == .get || request.method == .head, fields[.connection] == nil,
            fields[.transferEncoding] == nil, fields[.expect] == nil, fields[.contentLength] ?? "0" == "0"
        else { return nil }
        return handler.recipe(for: request).map { WarmRequest(responder: self, request: request, recipe: $0) }
    }

    fileprivate func response(_ found: WarmAnswers.Found, to warm: WarmRequest) -> WarmResponse {
        let (tracer, request) = (tracer ?? InstrumentationSystem.tracer, warm.request)
        let span = tracer.startSpan(
            Self.spanName, context: Self.parent(request.headerFields, tracer), ofKind: .server, at: warm.began)
        defer { span.end() }
        let response = ServiceContext.withValue(span.context) {
            handler.response(found, to: request, since: warm.clock)
        }
        span.attributes[Self.statusAttribute] = response.head.status.code
        return response
    }
}

/// A request that has been answered before.
struct WarmRequest: Sendable {
    fileprivate let responder: ServerResponder
    fileprivate let request: HTTPRequest
    fileprivate let recipe: WarmAnswers.Recipe
    fileprivate let began = DefaultTracerClock.now
    fileprivate let clock = ContinuousClock.now

    /// Returns the answer if it is in memory and still holds.
    func responseInMemory() -> WarmResponse? {
        responder.handler.answer(inMemoryOf: recipe).map { responder.response($0, to: self) }
    }

    /// Returns the answer if the disk or the machines' store has it and it still holds.
    func response() async -> WarmResponse? {
        await responder.handler.answer(keptOf: recipe).map { responder.response($0, to: self) }
    }
}

/// The answer to a request that has been answered before.
struct WarmResponse: Sendable {
    var head: HTTPResponse
    let body: [ByteBuffer]
}

/// The answers of the port for reports.
struct AdminResponder: HTTPResponder {
    typealias Context = BasicRequestContext

    let health: HealthCheck
    let metrics: ServerMetrics

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        if let answer = await Self.answer(request, health) { return answer }
        guard request.uri.path == "/metrics" else { return Self.text(.notFound, "not found\n") }
        return Self.text(.ok, metrics.text, [.contentType: "text/plain; version=0.0.4; charset=utf-8"])
    }

    /// Returns the answer to `/health` and `/ready`; nil for other paths.
    static func answer(_ request: Request, _ health: HealthCheck) async -> Response? {
        switch request.uri.path {
        case "/health":
            let isHealthy = await health.isHealthy()
            return text(isHealthy ? .ok : .internalServerError, isHealthy ? "ok\n" : "cannot decode\n")
        case "/ready":
            if health.isStopping { return text(.serviceUnavailable, "stopping\n") }
            let isHealthy = await health.isHealthy()
            return text(isHealthy ? .ok : .serviceUnavailable, isHealthy ? "ready\n" : "cannot decode\n")
        default: return nil
        }
    }

    static func text(_ status: HTTPResponse.Status, _ text: String, _ fields: HTTPFields = [:]) -> Response {
        var headers: HTTPFields = [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"]
        for field in fields { headers[field.name] = field.value }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}

/// The reader of a trace's identity from the fields of a request.
private struct FieldExtractor: Extractor {
    func extract(key: String, from fields: HTTPFields) -> String? {
        HTTPField.Name(key).flatMap { fields[$0] }
    }
}
