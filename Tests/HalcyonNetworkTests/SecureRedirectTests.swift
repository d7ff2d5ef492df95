import Foundation
import HalcyonNetwork
import TestSupport
import Testing

/// The data that leaves an https origin with a redirect, seen at the socket that it goes to.
@Suite(.enabled(if: TestCertificate.isAvailable), .timeLimit(.minutes(5)))
struct SecureRedirectTests {
    private static let statuses = [301, 302, 303, 307, 308]

    @Test func noSecretGoesFromHTTPSToHTTP() async throws {
        let open = try RawServer { connection in
            while connection.readRequest() != nil { try connection.answer(Data("picture".utf8)) }
        }
        var answers: [String: String] = [:]
        for status in Self.statuses {
            answers["\(status)"] =
                "HTTP/1.1 \(status) Moved\r\nLocation: \(open.url("/\(status)"))\r\nContent-Length: 0\r\n"
                + "Connection: close\r\n\r\n"
        }
        let secure = try await TLSServer(answering: answers)
        defer {
            open.stop()
            secure.stop()
        }
        var settings = CurlTransport.Configuration()
        settings.certificateFile = secure.certificate.file
        let downloader = ImageDownloader(ImageDownloader.Configuration(transport: CurlTransport(settings)))
        let credentials: [Credential?] = [
            nil, .bearer("s3cret"), .basic(user: "me", password: "s3cret"), .digest(user: "me", password: "s3cret"),
        ]
        for status in Self.statuses {
            for credential in credentials {
                var request = DownloadRequest(
                    url: secure.url(host: "127.0.0.1", path: "\(status)"),
                    headers: RedirectTests.secrets.merging(["X-Kept": "1"]), credential: credential)
                request.timeouts = .patient
                let result = try await downloader.download(request)
                #expect(result.redirectCount == 1 && result.url == open.url("/\(status)"))
                let lines = try #require(open.requests.last).lowercased().components(separatedBy: "\r\n")
                #expect(lines.first == "get /\(status) http/1.1")
                #expect(lines.contains("x-kept: 1"))
                // libcurl's own, of the new origin.
                #expect(lines.filter { $0.hasPrefix("host:") } == ["host: 127.0.0.1:\(open.port)"])
                for field in RedirectTests.secrets.fields where field.name != "Host" {
                    #expect(!lines.contains { $0.hasPrefix(field.name.lowercased() + ":") }, "\(field.name)")
                }
                #expect(!lines.contains { $0.contains("s3cret") })
            }
        }
        #expect(open.requests.count == Self.statuses.count * credentials.count)
    }
}
