import Foundation
import Halcyon
import HalcyonCache
import HalcyonSystem
import HalcyonTesting
import TestSupport
import Testing

/// Bytes that are no longer fresh, of which one of several processes that share a store asks the server.
@Suite(.timeLimit(.minutes(5)))
struct RenewalClaimTests {
    private let store = MemoryCacheStore(claimWait: .seconds(300))
    private let transport = ScriptedTransport()
    private let clock = ManualClock()
    private let gate = ScriptedTransportGate()
    private let url = PipelineFixture.url("a")

    private func machine(disk: Bool = true) -> PipelineFixture {
        PipelineFixture(disk: disk, clock: clock.timeSource, transport: transport, stores: [store])
    }

    private func settle(_ machine: PipelineFixture) async {
        await machine.pipeline.shutdown(within: .seconds(300))
        machine.pipeline.cache.clearMemory()
    }

    /// Machines that all have the same bytes, which are stale by now, and whose server's next answer waits.
    private func machines(
        _ count: Int, disk: Bool = true, rule: String = "max-age=60", then answer: ScriptedTransport.Answer? = nil
    ) async throws -> [PipelineFixture] {
        let headers: HTTPHeaders = ["Cache-Control": rule, "ETag": "\"1\""]
        transport.answer(url, with: .data(try TestFiles.data("png/rgb8.png"), headers: headers))
        let machines = (0..<count).map { _ in machine(disk: disk) }
        _ = try await machines[0].pipeline.image(for: url)
        await settle(machines[0])
        transport.answer(url, with: .status(304, headers: headers))
        for machine in machines.dropFirst() {
            _ = try await machine.pipeline.image(for: url)
            await settle(machine)
        }
        clock.advance(by: .seconds(61))
        transport.answer(url, with: (answer ?? .status(304, headers: headers)).held(by: gate))
        return machines
    }

    private func load(_ machine: PipelineFixture) -> Task<ImageResponse, any Error> {
        Task { try await machine.pipeline.response(for: url) }
    }

    /// Starts a load on two machines: the server has been asked by the first one, for which the second one waits.
    private func loads(
        of machines: [PipelineFixture]
    ) async throws -> (first: Task<ImageResponse, any Error>, second: Task<ImageResponse, any Error>) {
        let former = transport.requestCount
        let first = load(machines[0])
        try await transport.waitForRequests(former + 1)
        let second = load(machines[1])
        try await store.waitForWaiters(1)
        return (first, second)
    }

    @Test(arguments: [true, false]) func oneProcessAsksAndTheOthersFindWhatItHasRenewed(disk: Bool) async throws {
        let machines = try await machines(3, disk: disk)
        let former = transport.requestCount
        let first = load(machines[0])
        try await transport.waitForRequests(former + 1)
        let others = machines.dropFirst().map(load)
        try await store.waitForWaiters(2)
        gate.open()
        #expect(try await first.value.origin == .revalidated)
        for other in others { #expect(try await other.value.origin == .disk) }
        #expect(transport.requestCount == former + 1)
    }

    @Test func bytesThatHaveChangedReachTheOthersToo() async throws {
        let changed = ScriptedTransport.Answer.data(
            try TestFiles.data("png/1x1.png"), headers: ["Cache-Control": "max-age=60", "ETag": "\"2\""])
        let machines = try await machines(2, then: changed)
        let former = transport.requestCount
        let (first, second) = try await loads(of: machines)
        gate.open()
        #expect(try await first.value.image.size == PixelSize(1, 1))
        #expect(try await second.value.image.size == PixelSize(1, 1))
        #expect(transport.requestCount == former + 1)
    }

    @Test func anotherOneAsksIfTheFirstGivesUp() async throws {
        let machines = try await machines(2)
        let former = transport.requestCount
        let (first, second) = try await loads(of: machines)
        first.cancel()
        try await transport.waitForRequests(former + 2)
        gate.open()
        #expect(try await second.value.origin == .revalidated)
        await #expect(throws: CancellationError.self) { try await first.value }
    }

    /// An answer that is good for one question alone is waited for by nobody.
    @Test(arguments: ["no-cache", "max-age=0"]) func whatIsAskedForEachTimeIsNotWaitedFor(rule: String) async throws {
        let machines = try await machines(2, rule: rule)
        let former = transport.requestCount
        let loads = machines.map(load)
        try await transport.waitForRequests(former + 2)
        #expect(store.waiterCount == 0)
        gate.open()
        for load in loads { #expect(try await load.value.origin == .revalidated) }
    }

    /// A store that cannot be reached keeps nobody waiting.
    @Test func withoutTheStoreEachAsks() async throws {
        let machines = try await machines(2)
        let former = transport.requestCount
        store.isReachable = false
        let loads = machines.map(load)
        try await transport.waitForRequests(former + 2)
        gate.open()
        for load in loads { #expect(try await load.value.origin == .revalidated) }
    }
}
