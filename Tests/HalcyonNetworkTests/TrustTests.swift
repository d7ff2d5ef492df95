import Foundation
import HalcyonNetwork
import HalcyonSystem
import TestSupport
import Testing

/// The certificates that a transport trusts. The self-signed certificate of these servers is for both names of the machine.
@Suite(.enabled(if: TestCertificate.isAvailable), .timeLimit(.minutes(5)))
struct TrustTests {
    private func transport(_ change: (inout CurlTransport.Configuration) -> Void) -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        change(&configuration)
        return CurlTransport(configuration)
    }

    private func status(_ transport: CurlTransport, _ url: URL) async throws -> Int {
        let response = try await transport.send(.patient(url))
        _ = try await response.body.collected()
        return response.head.status
    }

    private func code(_ transport: CurlTransport, _ url: URL) async -> String? {
        do {
            _ = try await status(transport, url)
            return nil
        } catch {
            return (error as? DownloadError)?.code
        }
    }

    @Test func onlyTheNamedHostMayHaveAnInvalidOne() async throws {
        let server = try await TLSServer()
        defer { server.stop() }
        let transport = transport { $0.hostsWithInvalidCertificates = ["LocalHost"] }
        let (named, other) = (server.url(host: "localhost"), server.url)
        #expect(try await status(transport, named) == 200)
        // Neither a connection that is kept nor a session that is resumed opens the door to the other.
        #expect(await code(transport, other) == "tls")
        #expect(try await status(transport, named) == 200)
        #expect(await code(transport, other) == "tls")
    }

    @Test func theOrderMakesNoDifference() async throws {
        let server = try await TLSServer()
        defer { server.stop() }
        let transport = transport { $0.hostsWithInvalidCertificates = ["127.0.0.1"] }
        #expect(await code(transport, server.url(host: "localhost")) == "tls")
        #expect(try await status(transport, server.url) == 200)
        #expect(await code(transport, server.url(host: "localhost")) == "tls")
    }

    @Test(arguments: ["ocalhost", "*", "*.localhost", "localhost:443", "https://localhost", "", "localhost.evil"])
    func aNameIsAWholeName(name: String) async throws {
        let server = try await TLSServer()
        defer { server.stop() }
        let transport = transport { $0.hostsWithInvalidCertificates = [name] }
        #expect(await code(transport, server.url(host: "localhost")) == "tls")
    }

    @Test func aRedirectToAnotherHostIsChecked() async throws {
        let server = try await TLSServer()
        let first = try await TLSServer(answering: [
            "away": "HTTP/1.1 302 Found\r\nLocation: \(server.url)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            "near":
                "HTTP/1.1 302 Found\r\nLocation: \(server.url(host: "localhost"))\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        ])
        defer {
            server.stop()
            first.stop()
        }
        var configuration = ImageDownloader.Configuration(
            transport: transport { $0.hostsWithInvalidCertificates = ["localhost"] })
        (configuration.retry, configuration.timeouts) = (.never, .patient)
        let downloader = ImageDownloader(configuration)
        let error = await #expect(throws: DownloadError.self) {
            try await downloader.download(first.url(host: "localhost", path: "away"))
        }
        #expect(error?.code == "tls")
        let result = try await downloader.download(first.url(host: "localhost", path: "near"))
        #expect(result.url == server.url(host: "localhost"))
    }

    @Test func aFileOfCertificatesIsTrustedInsteadOfTheSystems() async throws {
        let server = try await TLSServer()
        let other = try await TLSServer()
        defer {
            server.stop()
            other.stop()
        }
        let transport = transport { $0.certificateFile = server.certificate.file }
        #expect(try await status(transport, server.url) == 200)
        #expect(await code(transport, other.url) == "tls")
        let lost = self.transport { $0.certificateFile = "/nowhere/at.all" }
        #expect(await code(lost, server.url) == "tls")
    }

    // MARK: Client certificates

    private func demanding(_ client: TestCertificate) async throws -> TLSServer {
        try await TLSServer(options: "-Verify 1 -verify_return_error -CAfile \(client.file)")
    }

    @Test func aServerThatAsksIsShownTheClientsCertificate() async throws {
        let client = try await TestCertificate()
        let server = try await demanding(client)
        defer {
            server.stop()
            client.remove()
        }
        let certificate = ClientCertificate(file: client.file, keyFile: client.keyFile)
        func transport(_ hosts: [String]) -> CurlTransport {
            self.transport {
                $0.certificateFile = server.certificate.file
                for host in hosts { $0.clientCertificates[host] = certificate }
            }
        }
        #expect(try await status(transport(["127.0.0.1"]), server.url) == 200)
        #expect(await code(transport([]), server.url) != nil)
        // It is shown to that host alone.
        let named = transport(["localhost"])
        #expect(try await status(named, server.url(host: "localhost")) == 200)
        #expect(await code(named, server.url) != nil)
    }

    @Test func aLockedKeyNeedsItsPassword() async throws {
        let client = try await TestCertificate()
        let locked = try await client.lockedKey(password: "sesame")
        let server = try await demanding(client)
        defer {
            server.stop()
            client.remove()
        }
        for (password, isRight) in [("sesame", true), ("wrong", false), (nil, false)] as [(String?, Bool)] {
            let transport = transport {
                $0.certificateFile = server.certificate.file
                $0.clientCertificates["127.0.0.1"] = ClientCertificate(
                    file: client.file, keyFile: locked, password: password)
            }
            #expect(await code(transport, server.url) == (isRight ? nil : "tls"))
        }
    }

    @Test func aCertificateThatIsNotThereIsATLSError() async throws {
        let server = try await TLSServer()
        defer { server.stop() }
        let transport = transport {
            $0.certificateFile = server.certificate.file
            $0.clientCertificates["127.0.0.1"] = ClientCertificate(file: "/nowhere/at.all", password: "secret")
        }
        #expect(await code(transport, server.url) == "tls")
        #expect(!"\(ClientCertificate(file: "a", password: "secret"))".contains("secret"))
    }
}
