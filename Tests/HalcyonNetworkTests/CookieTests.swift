import Foundation
import HalcyonNetwork
import TestSupport
import Testing

/// Cookies: none unless they are wanted, and then only where they came from.
@Suite(.timeLimit(.minutes(5)))
struct CookieTests {
    /// Sets a cookie with each answer; `/away` leads to another server.
    private func server(leadingTo other: URL? = nil) throws -> RawServer {
        try RawServer { connection in
            while let request = connection.readRequest() {
                if let other, request.hasPrefix("GET /away") {
                    try connection.send(
                        "HTTP/1.1 302 Found\r\nSet-Cookie: s=1; Path=/\r\nLocation: \(other)\r\n"
                            + "Content-Length: 0\r\n\r\n")
                } else {
                    try connection.send(
                        "HTTP/1.1 200 OK\r\nSet-Cookie: s=1; Path=/\r\nSet-Cookie: far=1; Path=/far\r\n"
                            + "Set-Cookie: other=1; Domain=example.org\r\nContent-Length: 2\r\n\r\nok")
                }
            }
        }
    }

    private func downloader(keepsCookies: Bool?) -> ImageDownloader {
        var settings = CurlTransport.Configuration()
        if let keepsCookies { settings.keepsCookies = keepsCookies }
        return ImageDownloader(ImageDownloader.Configuration(transport: CurlTransport(settings)))
    }

    private func download(_ url: URL, by downloader: ImageDownloader, _ headers: HTTPHeaders = [:]) async throws {
        var request = DownloadRequest(url: url, headers: headers)
        request.timeouts = .patient
        _ = try await downloader.download(request)
    }

    private func cookies(_ server: RawServer) -> [String?] {
        server.requests.map { request in
            request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("cookie:") }
                .map { $0.dropFirst(7).trimmingCharacters(in: .whitespaces) }
        }
    }

    @Test func noneAreKeptByDefault() async throws {
        let server = try server()
        defer { server.stop() }
        let downloader = downloader(keepsCookies: nil)
        for _ in 0..<3 { try await download(server.url("/a"), by: downloader) }
        #expect(cookies(server) == [nil, nil, nil])
    }

    @Test func theyGoBackToWhereTheyCameFrom() async throws {
        let (server, other) = (try server(), try server())
        defer {
            server.stop()
            other.stop()
        }
        let downloader = downloader(keepsCookies: true)
        try await download(server.url("/a"), by: downloader)
        try await download(server.url("/b"), by: downloader)
        #expect(cookies(server) == [nil, "s=1"])
        // The same address by another name is another host; ports do not count for cookies (RFC 6265, 8.5).
        let name = URL(web: "http://localhost:\(other.url().port ?? 0)/a")
        try await download(name, by: downloader)
        #expect(cookies(other) == [nil])
        // They are the transport's.
        try await download(server.url("/a"), by: self.downloader(keepsCookies: true))
        #expect(cookies(server) == [nil, "s=1", nil])
    }

    @Test func aRedirectToAnotherHostTakesNoneAlong() async throws {
        let other = try server()
        defer { other.stop() }
        let server = try server(leadingTo: URL(web: "http://localhost:\(other.url().port ?? 0)/b"))
        defer { server.stop() }
        let downloader = downloader(keepsCookies: true)
        try await download(server.url("/away"), by: downloader)
        try await download(server.url("/away"), by: downloader, ["X-Again": "1"])
        #expect(cookies(server) == [nil, "s=1"])
        // Its own came with the first answer.
        #expect(cookies(other) == [nil, "s=1"])
    }
}
