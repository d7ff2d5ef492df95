import CTestResolver
import Foundation
import HalcyonNetwork
import HalcyonSystem
import TestSupport
import Testing

/// The time in which a cancelled transfer releases its connection.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct CancelTimeTests {
    /// `HALCYON_SOAK` runs more of them, on a machine that does nothing else, and holds them against the promise.
    private let isSoak = ProcessInfo.processInfo.environment["HALCYON_SOAK"] != nil
    private var rounds: Int { isSoak ? 200 : 5 }

    @Test func aConnectionIsClosed() async throws {
        let closed = Lock<[Double]>([])
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n0123456789")
            connection.waitForClose()
            let now = Date().timeIntervalSince1970
            closed.withLock { $0.append(now) }
        }
        defer { server.stop() }
        let transport = CurlTransport()
        var times: [Double] = []
        for round in 1...rounds {
            let cancelled = try await cancelInBody(transport, server.url())
            while closed.withLock({ $0.count }) < round { await Task.yield() }
            times.append((closed.withLock { $0.last } ?? .infinity) - cancelled)
        }
        hold(times, "connection")
    }

    /// Alone on its connection, or beside another stream that has nothing to send or receive.
    @Test(.enabled(if: NginxServer.isAvailable), arguments: [false, true], [false, true])
    func aStreamIsReset(isShared: Bool, otherIsPaused: Bool) async throws {
        let server = try await NginxServer([
            "a.bin": Data(count: 10 << 20), "b.bin": Data(count: 1000), "big.bin": Data(count: 40 << 20),
        ])
        defer { server.stop() }
        let transport = server.transport()
        let other = isShared ? try await transport.send(.patient(server.url("slow/big.bin"))) : nil
        var iterator = other?.body.makeAsyncIterator()
        if !otherIsPaused { _ = try await iterator?.next() }
        var times: [Double] = []
        for round in 1...rounds {
            let cancelled = try await cancelInBody(transport, server.url("slow/a.bin"))
            let ends = await server.waitForEnds(round, of: "/slow/a.bin")
            #expect(ends.last?.version == "HTTP/2.0")
            times.append((ends.last?.time ?? .infinity) - cancelled)
            let next = try await transport.send(.patient(server.url("b.bin")))
            #expect(try await next.body.collected().count == 1000)
            // Other transfers lose no connection by the cancellation.
            #expect(next.body.metrics?.reusedConnection == isShared)
        }
        hold(times, "stream, \(isShared ? otherIsPaused ? "beside a paused one" : "beside another" : "alone")")
        withExtendedLifetime(other) {}
    }

    @Test func aLookUpOfANameHoldsNobodyUp() async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.answer(Data("picture".utf8))
        }
        defer { server.stop() }
        let transport = CurlTransport()
        test_resolver_hold()
        defer { test_resolver_release() }
        let held = URL(web: "http://\(TEST_RESOLVER_HELD_NAME)/a")
        let tasks = (0..<3).map { _ in Task { try await transport.send(.patient(held)).head.status } }
        while test_resolver_waiting() < 3 { await Task.yield() }
        let before = Date().timeIntervalSince1970
        // The name has not been found yet, and never will be before the end of this test.
        for task in tasks {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(try await transport.send(.patient(server.url())).body.collected() == Data("picture".utf8))
        hold([Date().timeIntervalSince1970 - before], "three look-ups and another transfer")
        #expect(test_resolver_waiting() == 3)
    }

    @Test func aLookUpOfANameIsPartOfTheTimeToConnect() async throws {
        test_resolver_hold()
        defer { test_resolver_release() }
        let request = TransportRequest(
            url: URL(web: "http://\(TEST_RESOLVER_HELD_NAME)/a"), connectTimeout: .milliseconds(50))
        let error = await #expect(throws: DownloadError.self) { try await CurlTransport().send(request) }
        #expect(error?.reason == .timeout(.connect))
    }

    /// The time at which a transfer was cancelled that had begun its body.
    private func cancelInBody(_ transport: CurlTransport, _ url: URL) async throws -> Double {
        let first = RawServerGate()
        let task = Task {
            let response = try await transport.send(.patient(url))
            for try await _ in response.body { first.open() }
        }
        await first.opened()
        let now = Date().timeIntervalSince1970
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        return now
    }

    private func hold(_ seconds: [Double], _ what: String) {
        guard isSoak else { return }
        let sorted = seconds.sorted()
        let late = sorted[(sorted.count - 1) * 99 / 100]
        print(
            "cancel to the end of the \(what): median \(sorted[sorted.count / 2] * 1000) ms, 99th centile "
                + "\(late * 1000) ms, longest \((sorted.last ?? 0) * 1000) ms of \(sorted.count)")
        #expect(late < 0.05)
    }
}
