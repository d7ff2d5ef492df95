import FlyingFox
import FlyingSocks
import Foundation
import Glibc

/// An HTTP server on the loopback that serves the files of some folders, and responds to any other request with 404.
package struct GalleryServer {
    /// The URL `http://127.0.0.1:PORT/`. The last component of a request's path is the file; the components before it
    /// only make its URLs differ.
    package let base: URL
    private let server: HTTPServer
    private let running: Task<Void, any Error>

    /// Starts the server on a free port. A file is served from the first folder that has it.
    ///
    /// - Parameter latency: The delay of a response; none by default.
    package static func start(
        folders: [URL], latency: @escaping @Sendable (_ path: String) -> Duration = { _ in .zero }
    ) async throws -> GalleryServer {
        let server = HTTPServer(
            config: .init(
                address: try .inet(ip4: "127.0.0.1", port: 0),
                pool: NoDelayPool(base: HTTPServer.defaultPool()), logger: .disabled),
            handler: FolderHandler(folders: folders, latency: latency))
        let running = Task { try await server.run() }
        try await server.waitUntilListening(timeout: 60)
        guard case .ip4(_, let port)? = await server.listeningAddress,
            let base = URL(string: "http://127.0.0.1:\(port)/")
        else { throw GalleryServerError.noPort }
        return GalleryServer(base: base, server: server, running: running)
    }

    package func stop() async {
        await server.stop()
        running.cancel()
        _ = await running.result
    }
}

/// An error of starting the server.
package enum GalleryServerError: Error, CustomStringConvertible {
    case noPort

    package var description: String { "the gallery's server has no port" }
}

/// Serves files with the headers that a cache needs.
private struct FolderHandler: HTTPHandler {
    let folders: [URL]
    let latency: @Sendable (String) -> Duration

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        let delay = latency(request.path)
        if delay > .zero { try await Task.sleep(for: delay) }
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
        case "avif": "image/avif"
        case "heic": "image/heic"
        case "tiff": "image/tiff"
        case "dng": "image/x-adobe-dng"
        case "bmp": "image/bmp"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }
}

/// Turns Nagle's algorithm off on each socket: header and body are two writes, and the second would wait 40 ms for
/// the client's delayed acknowledgement.
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
