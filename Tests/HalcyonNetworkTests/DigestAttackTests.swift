import Foundation
import Halcyon
import TestSupport
import Testing

/// Challenges that no honest server sends.
@Suite(.timeLimit(.minutes(5)))
struct DigestAttackTests {
    private static let credential = Credential.digest(user: "Mu\"fas\\a ü", password: "Circle of Life")

    static let challenges: [(String, String)] = [
        ("a long realm", "Digest realm=\"\(String(repeating: "x", count: 90_000))\", nonce=\"a\""),
        (
            "a realm past the limit of a head",
            "Digest realm=\"\(String(repeating: "x", count: 1_000_000))\", nonce=\"a\""
        ),
        ("no end of quotes", "Digest realm=\"one, nonce=\"a\", qop=\"auth"),
        ("quotes within", "Digest realm=\"o\\\"n\\\\e\", nonce=\"a\\\"b\", opaque=\"\\\"\""),
        ("other letters", "Digest realm=\"ünïcode \u{1F600}\", nonce=\"ä\", qop=\"auth\""),
        ("no nonce", "Digest realm=\"one\""),
        ("nothing", "Digest"),
        ("an unknown algorithm", "Digest realm=\"one\", nonce=\"a\", algorithm=ROT13"),
        ("an unknown protection", "Digest realm=\"one\", nonce=\"a\", qop=\"auth-everything\""),
        ("several in one", "Basic realm=\"two\", Digest realm=\"one\", nonce=\"a\", Negotiate"),
        (
            "several in lines",
            "Basic realm=\"two\"\r\nWWW-Authenticate: Digest realm=\"one\", nonce=\"a\", algorithm=SHA-256\r\n"
                + "WWW-Authenticate: Digest realm=\"three\", nonce=\"b\", algorithm=MD5\r\nWWW-Authenticate: NTLM"
        ),
        (
            "many",
            Array(repeating: "Digest realm=\"one\", nonce=\"a\"", count: 500).joined(
                separator: "\r\nWWW-Authenticate: ")
        ),
        ("parameters without end", "Digest " + (0..<5000).map { "p\($0)=\"\($0)\"" }.joined(separator: ", ")),
    ]

    @Test(arguments: challenges)
    func aHostileChallengeEndsInATypedErrorAndGetsNoPassword(_ what: String, _ challenge: String) async throws {
        let server = try RawServer { connection in
            while connection.readRequest() != nil {
                try connection.answer(
                    Data("no".utf8), status: "401 Unauthorized", fields: "WWW-Authenticate: \(challenge)\r\n")
            }
        }
        defer { server.stop() }
        var configuration = ImageDownloader.Configuration()
        configuration.timeouts = .patient
        configuration.retry = .never
        let request = DownloadRequest(url: server.url("/a"), credential: Self.credential)
        let error = await #expect(throws: DownloadError.self) {
            try await ImageDownloader(configuration).download(request)
        }
        #expect(error != nil)
        #expect((1...2).contains(server.requests.count))
        let basic = Data("Mu\"fas\\a ü:Circle of Life".utf8).base64EncodedString()
        #expect(!server.requests.contains { $0.contains("Circle of Life") || $0.contains(basic) })
    }

    /// A proof is made for each request, the one for the rest among them.
    @Test func theRestIsAskedForWithAProof() async throws {
        let fixture = try ResumeFixture(
            Self.challenge, ResumeFixture.broken(at: 1_500_000), Self.challenge, ResumeFixture.proper())
        let downloader = fixture.downloader(fixture.store())
        let request = DownloadRequest(url: fixture.url, credential: Self.credential)
        await #expect(throws: DownloadError.self) { try await downloader.download(request) }
        #expect(try await downloader.download(request).data == ResumeFixture.body)
        #expect(fixture.server.requests.count == 4)
        #expect(fixture.field("Range", of: 4) == "bytes=1500000-")
        #expect(fixture.field("Authorization", of: 4)?.hasPrefix("Digest ") == true)
    }

    /// A body that was begun with one password is not continued with another.
    @Test func anotherPasswordBeginsAnew() async throws {
        let fixture = try ResumeFixture(
            Self.challenge, ResumeFixture.broken(at: 1_500_000), Self.challenge, ResumeFixture.proper())
        let downloader = fixture.downloader(fixture.store())
        await #expect(throws: DownloadError.self) {
            try await downloader.download(DownloadRequest(url: fixture.url, credential: Self.credential))
        }
        let other = Credential.digest(user: "Mu\"fas\\a ü", password: "another")
        _ = try await downloader.download(DownloadRequest(url: fixture.url, credential: other))
        #expect((1...4).allSatisfy { fixture.field("Range", of: $0) == nil })
    }

    private static let challenge: ResumeFixture.Script = { connection, _ in
        let fields = "WWW-Authenticate: Digest realm=\"one\", nonce=\"a\", qop=\"auth\"\r\n"
        try connection.answer(Data(), status: "401 Unauthorized", fields: fields)
    }
}
