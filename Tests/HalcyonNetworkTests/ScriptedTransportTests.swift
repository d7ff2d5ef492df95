import Foundation
import HalcyonTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ScriptedTransportTests {
    @Test func cancelledWaiterIsRemoved() async throws {
        let transport = ScriptedTransport()
        let task = Task { try await transport.waitForRequests(1) }
        while transport.watcherCount == 0 { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.watcherCount == 0)
    }
}
