import HTTPTypes
import Hummingbird
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
        var parent = ServiceContext.current ?? .topLevel
        let tracer = tracer ?? InstrumentationSystem.tracer
        tracer.extract(request.headers, into: &parent, using: FieldExtractor())
        return await tracer.withSpan("halcyon.request", context: parent, ofKind: .server) { span in
            let response = await handler.respond(request, context)
            span.attributes["http.response.status_code"] = response.status.code
            return response
        }
    }
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
