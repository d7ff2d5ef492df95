import Foundation
import HalcyonNetwork
import HalcyonSystem
import TestSupport
import Testing

/// Cancels that meet the start of their transfer. The curl thread ends once its transport and the last transfer are
/// gone, which shows whether anything was left behind.
@Suite(.timeLimit(.minutes(5)))
struct CurlRaceTests {
    private func silentServer() throws -> RawServer {
        try RawServer { connection in
            connection.readRequest()
            connection.waitForClose()
        }
    }

    /// Cancels a transfer about as long after its task has begun as `turns` turns of a loop take.
    private func cancelledSend(_ transport: CurlTransport, _ url: URL, after turns: Int) async {
        let hasBegun = Lock(false)
        let task = Task {
            hasBegun.withLock { $0 = true }
            return try await transport.send(.patient(url)).head.status
        }
        while !hasBegun.withLock({ $0 }) { await Task.yield() }
        for _ in 0..<turns { hasBegun.withLock { $0 = false } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aCancelThatOvertakesItsStartLeavesNoTransfer() async throws {
        let server = try silentServer()
        defer { server.stop() }
        let ended = RawServerGate()
        do {
            let transport = CurlTransport(CurlTransport.Configuration(), onThreadEnd: { ended.open() })
            for round in 0..<20_000 { await cancelledSend(transport, server.url(), after: round % 400) }
        }
        await ended.opened()
    }

    @Test func theThreadEndsAtOnceWhenStartAndEndComeTogether() async throws {
        let server = try RawServer { connection in
            connection.readRequest()
            try connection.answer(Data())
            connection.waitForClose()
        }
        defer { server.stop() }
        for round in 0..<200 {
            let ended = RawServerGate()
            do {
                let transport = CurlTransport(CurlTransport.Configuration(), onThreadEnd: { ended.open() })
                // The thread runs from here on and waits.
                _ = try await transport.send(.patient(server.url())).body.collected()
                await cancelledSend(transport, server.url(), after: round % 100)
            }
            await ended.opened()
        }
    }
}
