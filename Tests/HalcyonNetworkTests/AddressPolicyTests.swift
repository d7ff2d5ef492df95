import Foundation
import HalcyonNetwork
import HalcyonTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct AddressPolicyTests {
    @Test(arguments: [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1",
        "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.100.100.200", "168.63.129.16",
        "192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1", "240.0.0.1",
        "255.255.255.255", "::", "::1", "[::1]", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
        "64:ff9b:1::1", "2002:7f00:1::", "2002:c0a8:101::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254",
        "fec0::1", "ff02::1", "2001::1", "2001:db8::1", "3fff::1", "100::1", "::7f00:1", "5f00::1",
    ])
    func theseAreNotPublic(host: String) throws {
        let address = try #require(IPAddress(host: host))
        #expect(!address.isPublic)
        #expect(!AddressPolicy.publicInternet.allows(address))
        #expect(AddressPolicy.any.allows(address))
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "169.253.0.1", "192.0.1.1",
        "198.17.0.1", "198.20.0.1", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808",
        "::ffff:8.8.8.8", "2002:808:808::1", "2001:4860:4860::8888", "2400:cb00::1",
    ])
    func theseArePublic(host: String) throws {
        #expect(try #require(IPAddress(host: host)).isPublic)
    }

    @Test(arguments: ["example.com", "", "1.2.3.4.5", "1.2.3.4 x", "localhost", "0x7f.1.example", "::g", "999.1.1.1"])
    func theseAreNames(host: String) {
        #expect(IPAddress(host: host) == nil)
    }

    @Test(arguments: [
        ("https://example.com/a", true), ("http://example.com:80/a", true), ("http://example.com:8080/a", false),
        ("http://127.0.0.1/a", false), ("http://2130706433/a", false), ("http://[::1]/a", false),
        ("http://[::ffff:10.0.0.1]/a", false), ("http://10.0.0.1./a", false), ("http://8.8.8.8/a", true),
        ("ftp://example.com/a", false),
    ])
    func thePublicInternet(text: String, isAllowed: Bool) throws {
        let url = try #require(URL(string: text))
        #expect(isAllowed == ((try? AddressPolicy.publicInternet.check(url)) != nil))
        #expect((try? AddressPolicy(schemes: ["http", "https", "ftp"]).check(url)) != nil)
    }

    @Test(arguments: [
        ("http://example.com/", true), ("http://EXAMPLE.com./", true), ("http://a.example.com/", false),
        ("http://img.test/", true), ("http://a.b.img.test/", true), ("http://notimg.test/", false),
        ("http://bad.img.test/", false), ("http://other.test/", false),
    ])
    func listsOfHosts(text: String, isAllowed: Bool) throws {
        let policy = AddressPolicy(allowedHosts: ["Example.com", ".img.test"], deniedHosts: ["bad.img.test"])
        let url = try #require(URL(string: text))
        #expect(isAllowed == ((try? policy.check(url)) != nil))
    }

    private func isRefused(_ error: any Error) -> Bool {
        if case .refusedAddress = (error as? DownloadError)?.reason { return true }
        return false
    }

    @Test func eachRedirectIsHeldAgainstIt() async throws {
        let transport = ScriptedTransport()
        var configuration = ImageDownloader.Configuration(transport: transport)
        configuration.addressPolicy = AddressPolicy(deniedHosts: ["metadata.test", "169.254.169.254"])
        let downloader = ImageDownloader(configuration)
        for (path, location) in [("/a", "http://metadata.test/x"), ("/b", "http://169.254.169.254/latest")] {
            transport.answer(URL(web: "http://one.test\(path)"), with: .redirect(to: location))
            await #expect {
                try await downloader.download(URL(web: "http://one.test\(path)"))
            } throws: {
                isRefused($0)
            }
        }
        #expect(transport.requests.map(\.url.host) == ["one.test", "one.test"])
    }

    @Test func aTransportThatDoesNotCheckIsNotTrustedWithIt() async throws {
        let transport = ScriptedTransport()
        var configuration = ImageDownloader.Configuration(transport: transport)
        configuration.addressPolicy = .publicInternet
        await #expect {
            try await ImageDownloader(configuration).download(URL(web: "http://one.test/a"))
        } throws: {
            ($0 as? DownloadError)?.code == "invalidRequest"
        }
        #expect(transport.requestCount == 0)
    }

    /// A name that leads to this machine, as one of a stranger's may: nothing is connected to.
    @Test func theAddressThatIsConnectedToCounts() async throws {
        let server = try await LoopbackServer(["/a": { _ in .init(body: Data("x".utf8)) }])
        let transport = CurlTransport()
        let url = try #require(URL(string: "http://localhost:\(server.port)/a"))
        var configuration = ImageDownloader.Configuration(transport: transport)
        configuration.timeouts = .patient
        configuration.retry = .never
        let open = ImageDownloader(configuration)
        configuration.addressPolicy = AddressPolicy(requiresPublicAddress: true)
        let guarded = ImageDownloader(configuration)
        await #expect {
            try await guarded.download(url)
        } throws: {
            isRefused($0)
        }
        #expect(server.requests.isEmpty)
        // Nor is the connection that another downloader has made.
        #expect(try await open.download(url).data == Data("x".utf8))
        await #expect {
            try await guarded.download(url)
        } throws: {
            isRefused($0)
        }
        #expect(server.requests.count == 1)
        #expect(try await open.download(url).data == Data("x".utf8))
        await server.stop()
    }
}
