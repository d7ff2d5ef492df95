import Foundation
import HalcyonNetwork
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// The fields that every request carries, as a server sees them.
@Suite(.timeLimit(.minutes(5)))
struct DefaultHeaderTests {
    private func withServer(_ body: (ImageDownloader, RawServer) async throws -> Void) async throws {
        let server = try RawServer { connection in
            while connection.readRequest() != nil { try connection.answer(Data("picture".utf8)) }
        }
        defer { server.stop() }
        try await body(ImageDownloader.patient(), server)
    }

    private func download(_ downloader: ImageDownloader, _ server: RawServer) async throws -> [String] {
        var request = DownloadRequest(url: server.url("/a"))
        request.timeouts = .patient
        _ = try await downloader.download(request)
        return server.requests.last?.split(separator: "\r\n").map(String.init) ?? []
    }

    @Test func theProgramAndTheLibraryAreNamed() async throws {
        try await withServer { downloader, server in
            let agent = try await download(downloader, server).first { $0.hasPrefix("User-Agent:") }
            let (name, library) = (ProcessInfo.processInfo.processName, "Halcyon/\(HalcyonVersion.current)")
            #expect(agent == "User-Agent: \(name) \(library)")
        }
    }

    @Test func theyAreSetReadAndRemoved() async throws {
        try await withServer { downloader, server in
            downloader.setDefaultHeader("User-Agent", "mine/1")
            downloader.setDefaultHeader("X-Shop", "7")
            #expect(downloader.defaultHeaders["user-agent"] == "mine/1")
            var lines = try await download(downloader, server)
            #expect(lines.contains("User-Agent: mine/1") && lines.contains("X-Shop: 7"))
            downloader.setDefaultHeader("user-agent", nil)
            downloader.defaultHeaders["X-Shop"] = nil
            lines = try await download(downloader, server)
            #expect(!lines.contains { $0.lowercased().hasPrefix("user-agent") || $0.hasPrefix("X-Shop") })
        }
    }

    @Test func changesAtOnceAllCount() async {
        let downloader = ImageDownloader.patient()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 { group.addTask { downloader.setDefaultHeader("X-\(index)", "1") } }
        }
        #expect((0..<200).allSatisfy { downloader.defaultHeaders["X-\($0)"] == "1" })
    }

    @Test func aChangeDoesNotJoinWhatRuns() async throws {
        let fixture = DownloaderFixture()
        let gate = ScriptedTransportGate()
        fixture.transport.answer(fixture.url(), with: .data(Data("a".utf8)).held(by: gate))
        let first = Task { try await fixture.downloader.download(fixture.url()) }
        try await fixture.transport.waitForRequests(1)
        fixture.downloader.setDefaultHeader("User-Agent", "other")
        let second = Task { try await fixture.downloader.download(fixture.url()) }
        try await fixture.transport.waitForRequests(2)
        gate.open()
        _ = try await (first.value, second.value)
        #expect(fixture.transport.requests.map { $0.headers["User-Agent"] } == ["test", "other"])
    }

    /// A character that a token of the protocol may not have becomes a dash: a program's name cannot add a header field.
    @Test(
        arguments: [
            ("My App", "1.2", "My-App/1.2"), ("a\r\nX: 1", nil, "a-X--1"), ("", "", "-/-"),
            ("B\u{E4}r", "1/2 (x)", "B-r/1-2--x-"),
        ] as [(String, String?, String)])
    func anyNameIsMadeAWord(name: String, version: String?, agent: String) {
        let headers = ImageDownloader.Configuration.defaultHeaders(application: name, version: version)
        #expect(headers["User-Agent"] == "\(agent) Halcyon/\(HalcyonVersion.current)")
        #expect(!headers.contains("Accept"))
    }
}
