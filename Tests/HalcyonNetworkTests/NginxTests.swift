import Foundation
import HalcyonNetwork
import TestSupport
import Testing

/// The downloader against a widely used web server, over HTTP/1.1 and HTTP/2.
@Suite(.enabled(if: NginxServer.isAvailable), .timeLimit(.minutes(5)), .serialized)
struct NginxTests {
    private let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) })

    private func withServer(_ body: (NginxServer, ImageDownloader) async throws -> Void) async throws {
        let server = try await NginxServer(["a.bin": bytes])
        defer { server.stop() }
        try await body(server, .patient { $0.transport = server.transport() })
    }

    private func url(_ server: NginxServer, _ path: String, _ version: HTTPVersion) -> URL {
        version == .http2 ? server.url(path) : server.plainURL(path)
    }

    @Test(arguments: [HTTPVersion.http11, .http2])
    func wholeBodiesPartsAndValidators(_ version: HTTPVersion) async throws {
        try await withServer { server, downloader in
            let url = url(server, "a.bin", version)
            let whole = try await downloader.download(url)
            #expect(whole.data == bytes && whole.version == version)
            let tag = try #require(whole.headers["ETag"])
            let date = try #require(whole.headers["Last-Modified"])

            for conditions in [["If-None-Match": tag], ["If-Modified-Since": date]] as [HTTPHeaders] {
                let again = try await downloader.download(DownloadRequest(url: url, headers: conditions))
                #expect(again.status == 304 && again.data.isEmpty)
            }
            let part = try await downloader.download(
                DownloadRequest(url: url, headers: ["Range": "bytes=1000-1999", "If-Range": tag]))
            #expect(part.status == 206 && part.data == bytes[1000..<2000])
            let changed = try await downloader.download(
                DownloadRequest(url: url, headers: ["Range": "bytes=1000-1999", "If-Range": "\"other\""]))
            #expect(changed.status == 200 && changed.data == bytes)
            let beyond = await #expect(throws: DownloadError.self) {
                try await downloader.download(DownloadRequest(url: url, headers: ["Range": "bytes=900000-"]))
            }
            #expect(beyond?.reason == .httpStatus(416))
        }
    }

    @Test(arguments: [HTTPVersion.http11, .http2], [301, 302, 303, 307, 308])
    func redirectsAreFollowedToWhatOnlyTheCredentialOpens(_ version: HTTPVersion, status: Int) async throws {
        try await withServer { server, downloader in
            let headers = HTTPHeaders().showing(NginxServer.reader)
            let start = url(server, "\(status)/", version)
            let result = try await downloader.download(DownloadRequest(url: start, headers: headers))
            #expect(result.data == bytes && result.redirectCount == 1 && result.version == version)
            #expect(result.redirectsArePermanent == [301, 308].contains(status))
        }
    }

    @Test func fromHTTPSToHTTPNoCredentialGoesAlong() async throws {
        try await withServer { server, downloader in
            let headers = HTTPHeaders().showing(NginxServer.reader)
            let error = await #expect(throws: DownloadError.self) {
                try await downloader.download(DownloadRequest(url: server.url("insecure/"), headers: headers))
            }
            // Nothing was shown, so nothing was refused.
            #expect(error?.reason == .httpStatus(401))
            _ = await server.waitForEnds(1, of: "/private/a.bin")
            #expect(server.ends.last?.path == "/private/a.bin")
        }
    }

    @Test(arguments: [HTTPVersion.http11, .http2])
    func aWrongPasswordIsShownOnce(_ version: HTTPVersion) async throws {
        try await withServer { server, downloader in
            let wrong = HTTPHeaders().showing(.basic(user: "reader", password: "wrong"))
            let url = url(server, "private/a.bin", version)
            let error = await #expect(throws: DownloadError.self) {
                try await downloader.download(DownloadRequest(url: url, headers: wrong))
            }
            #expect(error?.reason == .unauthorized)
            #expect(await server.waitForEnds(1, of: "/private/a.bin").map(\.status) == [401])
        }
    }

    @Test func roundsEnd() async throws {
        try await withServer { server, downloader in
            let error = await #expect(throws: DownloadError.self) {
                try await downloader.download(server.plainURL("round/"))
            }
            #expect(error?.reason == .redirect(.loop))
        }
    }
}
