import Halcyon
import HalcyonTesting
import Synchronization
import Testing

@testable import HalcyonServer

/// The order and the bounds of places, step by step.
@Suite struct CostQueueStateTests {
    private func state(working: Int = 10, count: Int = 3, cost: Int = 100) -> CostQueueState<String> {
        CostQueueState(
            limits: CostQueueLimits(working: working, waitingCount: count, waitingCost: cost, waitingTime: .seconds(1)))
    }

    @Test func workThatFitsBeginsAtOnce() {
        var queue = state()
        #expect(queue.enter(1, "a", cost: 6, priority: .normal) == .admitted)
        #expect(queue.enter(2, "b", cost: 4, priority: .normal) == .admitted)
        #expect(queue.enter(3, "c", cost: 1, priority: .normal) == .waits)
        #expect(queue.workingCost == 10)
        #expect(queue.leave(1) == [3])
        #expect(queue.workingCost == 5)
        #expect(queue.waitingCount == 0)
    }

    @Test func whatCostsMoreThanAllRunsAlone() {
        var queue = state()
        #expect(queue.enter(1, "a", cost: 50, priority: .normal) == .admitted)
        #expect(queue.enter(2, "b", cost: 1, priority: .normal) == .waits)
        #expect(queue.leave(1) == [2])
        #expect(queue.enter(3, "c", cost: 50, priority: .normal) == .waits)
        #expect(queue.leave(2) == [3])
    }

    @Test func nothingSmallOvertakesWhatWaits() {
        var queue = state()
        _ = queue.enter(1, "a", cost: 8, priority: .normal)
        #expect(queue.enter(2, "b", cost: 9, priority: .normal) == .waits)
        #expect(queue.enter(3, "c", cost: 1, priority: .normal) == .waits)
        #expect(queue.leave(1) == [2, 3])
    }

    @Test func higherPrioritiesComeFirstAndEqualOnesInOrder() {
        var queue = state(working: 1, count: 9)
        _ = queue.enter(1, "a", cost: 1, priority: .normal)
        _ = queue.enter(2, "b", cost: 1, priority: .low)
        _ = queue.enter(3, "c", cost: 1, priority: .normal)
        _ = queue.enter(4, "d", cost: 1, priority: .normal)
        _ = queue.enter(5, "e", cost: 1, priority: .high)
        var order: [Int] = []
        var next = [1]
        while let member = next.first {
            order.append(member)
            next = queue.leave(member)
        }
        #expect(order == [1, 5, 3, 4, 2])
    }

    @Test func equalKeysShareOnePlace() {
        var queue = state(working: 10, count: 1)
        #expect(queue.enter(1, "a", cost: 10, priority: .normal) == .admitted)
        #expect(queue.enter(2, "a", cost: 10, priority: .normal) == .admitted)
        #expect(queue.enter(3, "b", cost: 10, priority: .normal) == .waits)
        #expect(queue.enter(4, "b", cost: 10, priority: .normal) == .waits)
        #expect((queue.workingCount, queue.waitingCount) == (1, 1))
        #expect(queue.leave(1).isEmpty)
        #expect(queue.leave(2) == [3, 4])
        #expect(queue.leave(3).isEmpty)
        #expect(queue.leave(4).isEmpty)
        #expect((queue.workingCount, queue.workingCost) == (0, 0))
    }

    @Test func boundsRefuse() {
        var queue = state(working: 1, count: 2, cost: 10)
        _ = queue.enter(1, "a", cost: 1, priority: .normal)
        #expect(queue.enter(2, "b", cost: 5, priority: .normal) == .waits)
        #expect(queue.enter(3, "c", cost: 6, priority: .normal) == .refused(.expensive))
        #expect(queue.enter(4, "d", cost: 5, priority: .normal) == .waits)
        #expect(queue.enter(5, "e", cost: 1, priority: .veryHigh) == .refused(.crowded))
        #expect(queue.waitingCost == 10)
        #expect(queue.enter(6, "f", cost: .max, priority: .normal) == .refused(.crowded))
    }

    @Test func whoLeavesMakesRoomForThoseBehind() {
        var queue = state()
        _ = queue.enter(1, "a", cost: 8, priority: .normal)
        _ = queue.enter(2, "b", cost: 9, priority: .normal)
        _ = queue.enter(3, "c", cost: 2, priority: .normal)
        // The second one has blocked the third.
        #expect(queue.leave(2) == [3])
        #expect(queue.leave(2).isEmpty)
        #expect(queue.workingCost == 10)
    }

    @Test func joiningRaisesThePriorityOfAPlace() {
        var queue = state(working: 1)
        _ = queue.enter(1, "a", cost: 1, priority: .normal)
        _ = queue.enter(2, "b", cost: 1, priority: .normal)
        _ = queue.enter(3, "c", cost: 1, priority: .low)
        _ = queue.enter(4, "c", cost: 1, priority: .high)
        #expect(queue.leave(1) == [3, 4])
    }
}

/// Waits, refusals and cancellations of tasks.
@Suite struct CostQueueTests {
    private func queue(_ clock: ManualClock, waiting: Int = 2) -> CostQueue<String> {
        CostQueue(
            limits: CostQueueLimits(working: 1, waitingCount: waiting, waitingCost: 10, waitingTime: .seconds(5)),
            time: clock.timeSource)
    }

    @Test func aPlaceIsGivenBackAfterASuccessAndAfterAFailure() async throws {
        struct Failure: Error {}
        let queue = queue(ManualClock())
        #expect(try await queue.withPlace(for: "a", cost: 1) { 7 } == 7)
        await #expect(throws: Failure.self) { try await queue.withPlace(for: "a", cost: 1) { throw Failure() } }
        #expect(queue.statistics == CostQueue.Statistics())
    }

    @Test func aCallerWaitsNoLongerThanTheLimit() async throws {
        let clock = ManualClock()
        let queue = queue(clock)
        let gate = ScriptedTransportGate()
        async let first: Void = queue.withPlace(for: "a", cost: 1) { try await gate.wait() }
        try await until { queue.statistics.working == 1 }
        let second = Task { try await queue.withPlace(for: "b", cost: 1) {} }
        try await clock.waitForSleepers()
        #expect(queue.statistics.waiting == 1)
        clock.advance(by: .seconds(4))
        #expect(queue.statistics.waiting == 1)
        clock.advance(by: .seconds(1))
        await #expect(throws: CostQueueRefusal.waitedTooLong) { try await second.value }
        #expect(queue.statistics.waiting == 0)
        #expect(queue.statistics.refusals == 1)
        gate.open()
        try await first
        #expect(queue.statistics.working == 0)
    }

    @Test func aCancelledCallerLeavesItsPlace() async throws {
        let queue = queue(ManualClock())
        let gate = ScriptedTransportGate()
        async let first: Void = queue.withPlace(for: "a", cost: 1) { try await gate.wait() }
        try await until { queue.statistics.working == 1 }
        let second = Task { try await queue.withPlace(for: "b", cost: 1) {} }
        try await until { queue.statistics.waiting == 1 }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(queue.statistics.waiting == 0)
        let third = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await queue.withPlace(for: "c", cost: 1) {}
        }
        await #expect(throws: CancellationError.self) { try await third.value }
        gate.open()
        try await first
    }

    @Test func manyCallersNeverWorkMoreThanTheBound() async throws {
        let queue = CostQueue<Int>(
            limits: CostQueueLimits(working: 4, waitingCount: 1000, waitingCost: 10_000, waitingTime: .seconds(60)))
        let load = Load()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    try await queue.withPlace(for: number, cost: 1 + number % 3) {
                        load.add(1 + number % 3)
                        await Task.yield()
                        load.add(-1 - number % 3)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect((1...4).contains(load.most))
        #expect(queue.statistics == CostQueue.Statistics())
    }
}

/// A cost, and the most that it was.
private final class Load: Sendable {
    private let costs = Mutex((now: 0, most: 0))

    var most: Int { costs.withLock { $0.most } }

    func add(_ cost: Int) {
        costs.withLock {
            $0.now += cost
            $0.most = max($0.most, $0.now)
        }
    }
}

/// Yields until a condition holds.
func until(_ condition: @Sendable () -> Bool) async throws {
    while !condition() {
        try Task.checkCancellation()
        await Task.yield()
    }
}
