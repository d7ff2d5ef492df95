import Foundation
import HalcyonNetwork
import TestSupport
import Testing

/// A proxy that the program names. Those of the environment are tested with a process of their own.
@Suite(.timeLimit(.minutes(5)))
struct ProxyTests {
    /// A host name that is too long to be asked of a name server: only a proxy can answer for it.
    private static let host = String(repeating: "a", count: 70) + ".invalid"
    private let url = URL(web: "http://\(host)/a")

    private func withProxy(_ body: (RawServer) async throws -> Void) async throws {
        let proxy = try RawServer { connection in
            while connection.readRequest() != nil { try connection.answer(Data("picture".utf8)) }
        }
        defer { proxy.stop() }
        try await body(proxy)
    }

    private func download(
        _ url: URL, by proxy: CurlTransport.Configuration.Proxy, _ policy: AddressPolicy = .any
    ) async throws -> Data {
        var settings = CurlTransport.Configuration()
        settings.proxy = proxy
        var configuration = ImageDownloader.Configuration(transport: CurlTransport(settings))
        configuration.addressPolicy = policy
        configuration.retry = .never
        var request = DownloadRequest(url: url)
        request.timeouts = .patient
        return try await ImageDownloader(configuration).download(request).data
    }

    private func reason(_ body: () async throws -> Void) async -> DownloadError.Reason? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? DownloadError)?.reason
        }
    }

    @Test func theProxyIsAskedForTheWholeURL() async throws {
        try await withProxy { proxy in
            let data = try await download(url, by: .server(proxy.url()))
            #expect(data == Data("picture".utf8))
            #expect(proxy.requests.first?.hasPrefix("GET \(url.absoluteString) HTTP/1.1\r\n") == true)
            let direct = await reason { _ = try await download(url, by: .none) }
            #expect(direct == .connection(.hostNotFound))
            #expect(proxy.requests.count == 1)
        }
    }

    @Test func loopbackURLsUseTheProxy() async throws {
        try await withProxy { proxy in
            let local = URL(web: "http://127.0.0.1:\(try RawServer.refusedPort())/a")
            let data = try await download(local, by: .server(proxy.url()))
            #expect(data == Data("picture".utf8))
        }
    }

    @Test func refusedAddressIsNotSentToProxy() async throws {
        try await withProxy { proxy in
            let denied = AddressPolicy(deniedHosts: [Self.host])
            let refusal = await reason { _ = try await download(url, by: .server(proxy.url()), denied) }
            #expect(refusal == .refusedAddress(Self.host))
            // Past the proxy, where the address can be looked at.
            let strict = AddressPolicy(requiresPublicAddress: true)
            let failure = await reason { _ = try await download(url, by: .server(proxy.url()), strict) }
            #expect(failure == .connection(.hostNotFound))
            #expect(proxy.connectionCount == 0)
        }
    }

    @Test(arguments: ["nonsense://127.0.0.1:1", "http://", "a b"])
    func aProxyThatIsNoneIsAnErrorOfTheConnection(_ text: String) async throws {
        let proxy = try #require(URL(string: text))
        do {
            _ = try await download(url, by: .server(proxy))
            Issue.record("there is an answer")
        } catch {
            #expect((error as? DownloadError)?.code == "connection")
        }
    }
}
