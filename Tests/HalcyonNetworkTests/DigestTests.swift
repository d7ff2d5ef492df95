import Foundation
import HalcyonNetwork
import HalcyonTesting
import TestSupport
import Testing

@Suite(.enabled(if: DigestHash.isAvailable), .timeLimit(.minutes(5)))
struct DigestTests {
    private let right = Credential.digest(user: DigestServer.user, password: DigestServer.password)
    private let wrong = Credential.digest(user: DigestServer.user, password: "circle of life")

    private func downloader(_ change: (inout ImageDownloader.Configuration) -> Void = { _ in }) -> ImageDownloader {
        var configuration = ImageDownloader.Configuration()
        configuration.timeouts = .patient
        configuration.retry = .never
        change(&configuration)
        return ImageDownloader(configuration)
    }

    private func request(_ url: URL, _ credential: Credential?) -> DownloadRequest {
        var request = DownloadRequest(url: url, credential: credential)
        request.timeouts = .patient
        return request
    }

    private func reason(_ downloader: ImageDownloader, _ request: DownloadRequest) async -> DownloadError.Reason? {
        do {
            _ = try await downloader.download(request)
            return nil
        } catch {
            return (error as? DownloadError)?.reason
        }
    }

    /// The values of RFC 7616, section 3.9.1, that the results are compared with.
    @Test(arguments: [
        (DigestHash.md5, "8ca523f5e9506fed4657c9700eebdbec"),
        (.sha256, "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func theTestsHashesAreTheStandards(hash: DigestHash, response: String) {
        let found = hash.response(
            user: DigestServer.user, realm: DigestServer.realm, password: DigestServer.password, method: "GET",
            uri: "/dir/index.html", nonce: "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", count: "00000001",
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
        #expect(found == response)
    }

    @Test(arguments: DigestHash.allCases, [DigestServer.Manner.proper, .closing, .bare])
    func theRightPasswordIsProvedAndNotSent(hash: DigestHash, manner: DigestServer.Manner) async throws {
        let server = try DigestServer(hash, manner)
        defer { server.stop() }
        let result = try await downloader().download(request(server.url(), right))
        // Nothing of the first answer.
        #expect(result.data == DigestServer.body)
        #expect(result.status == 200)
        #expect(server.requests.map { DigestServer.proof(in: $0) != nil } == [false, true])
        #expect(!server.requests.contains { $0.contains(DigestServer.password) || $0.contains("Basic") })
    }

    @Test(arguments: DigestHash.allCases, [DigestServer.Manner.proper, .alwaysStale, .closing, .bare])
    func aWrongPasswordIsRefusedOnce(hash: DigestHash, manner: DigestServer.Manner) async throws {
        let server = try DigestServer(hash, manner)
        defer { server.stop() }
        // As if all failures were worth another attempt.
        let downloader = downloader { $0.retry = RetryPolicy(maximumRetries: 3) }
        #expect(await reason(downloader, request(server.url(), wrong)) == .unauthorized)
        #expect(server.requests.count == 2)
    }

    @Test func passwordIsNotSentToBasicOnlyServer() async throws {
        let server = try DigestServer(.md5, .basicOnly)
        defer { server.stop() }
        #expect(await reason(downloader(), request(server.url(), right)) == .unauthorized)
        #expect(server.requests.count == 1)
        #expect(!server.requests.contains { $0.lowercased().contains("authorization") })
    }

    @Test func urlUserInfoIsNotUsedForDigest() async throws {
        let server = try DigestServer(.sha256)
        defer { server.stop() }
        let url = URL(web: "http://somebody:else@127.0.0.1:\(server.port)/a")
        #expect(try await downloader().download(request(url, right)).data == DigestServer.body)
    }

    @Test func credentialIsNotSentToRedirectTarget() async throws {
        let other = try DigestServer(.sha256)
        let server = try DigestServer(.sha256, redirect: other.url().absoluteString)
        defer {
            other.stop()
            server.stop()
        }
        #expect(await reason(downloader(), request(server.url(), right)) == .httpStatus(401))
        #expect(server.requests.count == 2)
        #expect(other.requests.count == 1)
        #expect(!other.requests.contains { $0.lowercased().contains("authorization") })
    }

    @Test func theAddressPolicyHolds() async throws {
        let server = try DigestServer(.md5)
        defer { server.stop() }
        let downloader = downloader { $0.addressPolicy = AddressPolicy(requiresPublicAddress: true) }
        let reason = await reason(downloader, request(server.url(), right))
        guard case .refusedAddress = reason else {
            Issue.record("it ended in \(String(describing: reason))")
            return
        }
        #expect(server.requests.isEmpty)
    }

    @Test func aCancelBetweenChallengeAndAnswerClosesTheConnection() async throws {
        let (asked, left) = (RawServerGate(), RawServerGate())
        let server = try RawServer { connection in
            guard connection.readRequest() != nil else { return }
            // The challenge's body does not end: what is waited for is its rest.
            try connection.send(
                "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"a\", qop=\"auth\", nonce=\"b\"\r\nContent-Length: 9\r\n\r\nhalf"
            )
            asked.open()
            connection.waitForClose()
            left.open()
        }
        defer { server.stop() }
        let (downloader, request) = (downloader(), request(server.url(), right))
        let task = Task { try await downloader.download(request) }
        await asked.opened()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await left.opened()
    }

    @Test func transportWithoutDigestSupportIsNotCalled() async throws {
        let transport = ScriptedTransport()
        let downloader = ImageDownloader(ImageDownloader.Configuration(transport: transport))
        let url = URL(web: "http://one.test/a")
        let expected = DownloadError.Reason.invalidRequest("the transport does not answer digest challenges")
        #expect(await reason(downloader, request(url, right)) == expected)
        #expect(transport.requestCount == 0)
        var direct = TransportRequest(url: url)
        direct.digest = DigestCredential(user: "a", password: "b")
        await #expect(throws: DownloadError(expected, url: url)) { try await transport.send(direct) }
    }

    @Test(arguments: [("a\r\nX: 1", "b"), ("a\0", "b"), ("a", "b\0c")])
    func credentialWithControlCharactersIsNotSent(user: String, password: String) async throws {
        let server = try DigestServer(.md5)
        defer { server.stop() }
        let reason = await reason(downloader(), request(server.url(), .digest(user: user, password: password)))
        #expect(reason == .invalidRequest("the credential cannot be sent"))
        #expect(server.requests.isEmpty)
    }

    @Test func twoPasswordsNeverShareATransfer() async throws {
        let server = try DigestServer(.md5)
        defer { server.stop() }
        let downloader = downloader()
        async let bad = reason(downloader, request(server.url(), wrong))
        async let good = downloader.download(request(server.url(), right))
        #expect(await bad == .unauthorized)
        #expect(try await good.data == DigestServer.body)
    }

    @Test func descriptionHidesUserAndPassword() {
        let secret = DigestCredential(user: "Mufasa", password: "secret")
        for text in ["\(right)", String(reflecting: right), "\(secret)", String(reflecting: secret)] {
            #expect(!text.contains("Mufasa") && !text.contains("Circle") && !text.contains("secret"))
        }
    }
}
