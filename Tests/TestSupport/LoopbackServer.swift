import FlyingFox
import FlyingSocks
import Foundation
import Glibc
import HalcyonSystem

/// A correct HTTP server on 127.0.0.1 with closures as its routes, for tests that need no faults.
public final class LoopbackServer: Sendable {
    /// A request as it came, its field names in lower case.
    public struct Request: Sendable {
        public let method: String
        /// With its query.
        public let path: String
        public let headers: [String: String]
    }

    /// An answer; its length is set from the body.
    public struct Response: Sendable {
        public var status: Int
        public var headers: [String: String]
        public var body: Data

        public init(status: Int = 200, headers: [String: String] = [:], body: Data = Data()) {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    public typealias Handler = @Sendable (Request) async throws -> Response

    private struct State {
        var routes: [String: Handler] = [:]
        var requests: [Request] = []
    }

    private let state: Lock<State>
    private let server: HTTPServer
    private let task: Task<Void, any Error>
    public let port: Int

    /// Starts the server and waits until it listens.
    public init(_ routes: [String: Handler] = [:]) async throws {
        let state = Lock(State(routes: routes))
        let server = HTTPServer(
            config: HTTPServer.Configuration(
                address: try .inet(ip4: "127.0.0.1", port: 0), timeout: 86_400,
                pool: NoDelayPool(base: HTTPServer.defaultPool()),
                logger: .disabled)
        )
        await server.appendRoute("*") { await Self.answer($0, state) }
        self.state = state
        self.server = server
        task = Task { try await server.run() }
        try await server.waitUntilListening(timeout: 300)
        guard case .ip4(_, let port) = await server.listeningAddress else { throw CancellationError() }
        self.port = Int(port)
    }

    /// Answers a path (without its query) from now on.
    public func route(_ path: String, _ handler: @escaping Handler) {
        state.withLock { $0.routes[path] = handler }
    }

    public func url(_ path: String = "/") -> URL {
        URL(web: "http://127.0.0.1:\(port)\(path)")
    }

    /// Every request in the order they came.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// The requests of one path, which its query may follow.
    public func requests(for path: String) -> [Request] {
        requests.filter { $0.path == path || $0.path.hasPrefix(path + "?") }
    }

    public func stop() async {
        await server.stop(timeout: 0)
        task.cancel()
        _ = await task.result
    }

    private static func answer(_ request: HTTPRequest, _ state: Lock<State>) async -> HTTPResponse {
        var headers: [String: String] = [:]
        for (key, value) in request.headers { headers[key.rawValue.lowercased()] = value }
        let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        let path = query.isEmpty ? request.path : "\(request.path)?\(query)"
        let seen = Request(method: request.method.rawValue, path: path, headers: headers)
        let handler = state.withLock { state in
            state.requests.append(seen)
            return state.routes[request.path]
        }
        guard let handler else { return HTTPResponse(statusCode: .notFound) }
        do {
            let response = try await handler(seen)
            var fields: [HTTPHeader: String] = [:]
            for (name, value) in response.headers { fields[HTTPHeader(name)] = value }
            return HTTPResponse(
                statusCode: HTTPStatusCode(response.status, phrase: "Status"), headers: .init(fields),
                body: response.body)
        } catch {
            return HTTPResponse(statusCode: .internalServerError)
        }
    }
}

/// Sends small writes at once. The server writes head and body apart, and with Nagle's algorithm the second waits for
/// the client's delayed acknowledgement: 44 ms an answer.
private struct NoDelayPool<Base: AsyncSocketPool>: AsyncSocketPool {
    let base: Base

    func prepare() async throws { try await base.prepare() }
    func run() async throws { try await base.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        var one: Int32 = 1
        setsockopt(
            socket.file.rawValue, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        try await base.suspendSocket(socket, untilReadyFor: events)
    }
}
