import FlyingFox
import FlyingSocks
import Foundation
import Glibc

/// An HTTP server on the loopback that serves the files of some folders, and answers 404 to everything else.
struct GalleryServer {
    /// `http://127.0.0.1:PORT/`.
    let base: URL
    private let server: HTTPServer
    private let running: Task<Void, any Error>

    /// Starts on a free port. The first folder that has a file serves it.
    static func start(folders: [URL]) async throws -> GalleryServer {
        let server = HTTPServer(
            config: .init(
                address: try .inet(ip4: "127.0.0.1", port: 0),
                pool: NoDelayPool(base: HTTPServer.defaultPool()), logger: .disabled),
            handler: FolderHandler(folders: folders))
        let running = Task { try await server.run() }
        try await server.waitUntilListening(timeout: 60)
        guard case .ip4(_, let port)? = await server.listeningAddress,
            let base = URL(string: "http://127.0.0.1:\(port)/")
        else { throw FailureReport(code: "connection", message: "the gallery's server has no port") }
        return GalleryServer(base: base, server: server, running: running)
    }

    func stop() async {
        await server.stop()
        running.cancel()
        _ = await running.result
    }
}

/// Serves files with what a cache needs to know.
private struct FolderHandler: HTTPHandler {
    let folders: [URL]

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        let name = request.path.split(separator: "/").last.map(String.init) ?? ""
        for folder in folders where !name.isEmpty && !name.hasPrefix(".") {
            guard let data = try? Data(contentsOf: folder.appending(path: name)) else { continue }
            return HTTPResponse(
                statusCode: .ok,
                headers: [
                    .contentType: Self.contentType(of: name), HTTPHeader("Cache-Control"): "max-age=3600",
                    HTTPHeader("ETag"): "\"\(data.count)-\(name)\"",
                ], body: data)
        }
        return HTTPResponse(statusCode: .notFound, headers: [.contentType: "text/plain"], body: Data("nothing".utf8))
    }

    private static func contentType(of name: String) -> String {
        switch URL(filePath: name).pathExtension {
        case "jpg": "image/jpeg"
        case "png": "image/png"
        case "gif": "image/gif"
        case "webp": "image/webp"
        default: "application/octet-stream"
        }
    }
}

/// Turns Nagle's algorithm off on each socket: header and body are two writes, and the second would wait 40 ms for the
/// client's delayed acknowledgement.
private struct NoDelayPool: AsyncSocketPool {
    let base: any AsyncSocketPool

    func prepare() async throws { try await base.prepare() }

    func run() async throws { try await base.run() }

    func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
        var on: Int32 = 1
        setsockopt(
            socket.file.rawValue, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        try await base.suspendSocket(socket, untilReadyFor: events)
    }
}
