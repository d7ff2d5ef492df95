import Foundation
import HalcyonNetwork
import TestSupport
import Testing

/// Many transfers that are cancelled at once, in every way there is. Each must end, and once: a continuation that is
/// resumed twice traps, one that is forgotten never ends its task.
@Suite(.timeLimit(.minutes(10)))
struct CancelStormTests {
    /// `HALCYON_SOAK` runs the full counts.
    private let rounds = ProcessInfo.processInfo.environment["HALCYON_SOAK"] == nil ? 5 : 200

    @Test func againstAServerThatNeverAnswers() async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            connection.waitForClose()
        }
        defer { server.stop() }
        try await storm(server.url())
    }

    @Test func againstAServerInTheMiddleOfABody() async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
            // Never all of it, however late the cancellation comes.
            for _ in 0..<1000 { try connection.send(Data(count: 10_000)) }
            connection.waitForClose()
        }
        defer { server.stop() }
        try await storm(server.url())
    }

    @Test func againstARefusedPort() async throws {
        try await storm(URL(web: "http://127.0.0.1:\(try RawServer.refusedPort())/"))
    }

    @Test func againstANameThatDoesNotResolve() async throws {
        try await storm(URL(web: "http://no-such-host.invalid/"))
    }

    private func storm(_ url: URL) async throws {
        let transport = CurlTransport()
        for _ in 0..<rounds {
            let tasks = (0..<100).map { _ in
                Task { try await transport.send(.patient(url)).body.collected() }
            }
            for _ in 0..<20 { await Task.yield() }
            for task in tasks { task.cancel() }
            for task in tasks {
                switch await task.result {
                case .success: Issue.record("a transfer that was called off has a result")
                case .failure(let error): #expect(error is CancellationError || error is DownloadError)
                }
            }
        }
    }
}
