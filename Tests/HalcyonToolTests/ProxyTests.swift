import Foundation
import TestSupport
import Testing

/// The proxy variables of the environment, as a child process has them.
@Suite(.timeLimit(.minutes(5))) struct ProxyTests {
    /// A host name that is too long to be asked of a name server: only a proxy can answer for it.
    private static let host = String(repeating: "a", count: 70) + ".invalid"
    private let url = "http://\(host)/png/rgb8.png"

    private func withProxy(_ body: (Tool, RawServer) async throws -> Void) async throws {
        let image = try TestFiles.data("png/rgb8.png")
        let proxy = try RawServer { connection in
            while let head = connection.readRequest() {
                if head.hasPrefix("CONNECT ") {
                    try connection.answer(Data(), status: "403 Forbidden")
                } else {
                    try connection.answer(image)
                }
            }
        }
        defer { proxy.stop() }
        try await body(try Tool(), proxy)
    }

    private func load(_ tool: Tool, _ url: String, _ environment: [String: String]) async throws -> ToolResult {
        try await tool.run(
            ["load", "--json", "--policy", "reload", "--retries", "0", "--cache", tool.path("cache"), url],
            environment: environment)
    }

    @Test func theProxyIsAskedForTheWholeURL() async throws {
        try await withProxy { tool, proxy in
            let result = try await load(tool, url, ["http_proxy": proxy.url("").absoluteString])
            #expect(try result.load().origin == "network")
            #expect(proxy.requests.count == 1)
            #expect(proxy.requests.first?.hasPrefix("GET \(url) HTTP/1.1\r\n") == true)
        }
    }

    @Test func withoutOneTheHostIsNotFound() async throws {
        try await withProxy { tool, proxy in
            #expect(try await load(tool, url, [:]).load().error?.code == "connection")
            // In capitals, a web server may have it from a stranger's request.
            let result = try await load(tool, url, ["HTTP_PROXY": proxy.url("").absoluteString])
            #expect(try result.load().error?.code == "connection")
            #expect(proxy.connectionCount == 0)
        }
    }

    @Test(arguments: [("no_proxy", "127.0.0.1"), ("NO_PROXY", "example.com,127.0.0.1"), ("no_proxy", "*")])
    func someHostsAreAskedThemselves(_ name: String, _ hosts: String) async throws {
        try await withProxy { tool, proxy in
            let server = try await fixtureServer("png/rgb8.png")
            let url = server.url("/png/rgb8.png").absoluteString
            let environment = ["http_proxy": proxy.url("").absoluteString]
            #expect(try await load(tool, url, environment).load().origin == "network")
            #expect(proxy.requests.count == 1 && server.requests.isEmpty)
            let direct = try await load(tool, url, environment.merging([name: hosts]) { $1 })
            #expect(try direct.load().origin == "network")
            #expect(proxy.requests.count == 1 && server.requests.count == 1)
            await server.stop()
        }
    }

    @Test(arguments: ["https_proxy", "HTTPS_PROXY", "ALL_PROXY"])
    func aTunnelThatIsRefusedIsAConnectionThatFailed(_ name: String) async throws {
        try await withProxy { tool, proxy in
            let secure = url.replacingOccurrences(of: "http:", with: "https:")
            let result = try await load(tool, secure, [name: proxy.url("").absoluteString])
            #expect(try result.load().error?.code == "connection")
            #expect(try result.load().error?.message.contains("proxy") == true)
            #expect(proxy.requests.first?.hasPrefix("CONNECT \(Self.host):443 HTTP/1.1\r\n") == true)
        }
    }

    @Test func aProxyThatIsNotThereIsAConnectionThatFailed() async throws {
        let proxy = "http://127.0.0.1:\(try RawServer.refusedPort())"
        let result = try await load(try Tool(), url, ["http_proxy": proxy])
        #expect(try result.load().error?.code == "connection")
    }
}
