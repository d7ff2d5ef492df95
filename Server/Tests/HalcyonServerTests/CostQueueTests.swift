import Foundation
import Halcyon
import HalcyonTesting
import NIOConcurrencyHelpers
import Testing

@testable import HalcyonServer

/// The order and the bounds of places, step by step.
@Suite struct CostQueueStateTests {
    private let start = Date(timeIntervalSinceReferenceDate: 0)

    private func state(working: Int = 10, count: Int = 3, cost: Int = 100) -> CostQueueState<String> {
        CostQueueState(
            limits: CostQueueLimits(working: working, waitingCount: count, waitingCost: cost, waitingTime: .seconds(1)))
    }

    @Test func workThatFitsBeginsAtOnce() {
        var queue = state()
        #expect(queue.enter(1, "a", cost: 6, priority: .normal, at: start) == .admitted)
        #expect(queue.enter(2, "b", cost: 4, priority: .normal, at: start) == .admitted)
        #expect(queue.enter(3, "c", cost: 1, priority: .normal, at: start) == .waits)
        #expect(queue.workingCost == 10)
        #expect(queue.leave(1) == [3])
        #expect(queue.workingCost == 5)
        #expect(queue.waitingCount == 0)
    }

    @Test func whatCostsMoreThanAllRunsAlone() {
        var queue = state()
        #expect(queue.enter(1, "a", cost: 50, priority: .normal, at: start) == .admitted)
        #expect(queue.enter(2, "b", cost: 1, priority: .normal, at: start) == .waits)
        #expect(queue.leave(1) == [2])
        #expect(queue.enter(3, "c", cost: 50, priority: .normal, at: start) == .waits)
        #expect(queue.leave(2) == [3])
    }

    @Test func nothingSmallOvertakesWhatWaits() {
        var queue = state()
        _ = queue.enter(1, "a", cost: 8, priority: .normal, at: start)
        #expect(queue.enter(2, "b", cost: 9, priority: .normal, at: start) == .waits)
        #expect(queue.enter(3, "c", cost: 1, priority: .normal, at: start) == .waits)
        #expect(queue.leave(1) == [2, 3])
    }

    @Test func higherPrioritiesComeFirstAndEqualOnesInOrder() {
        var queue = state(working: 1, count: 9)
        _ = queue.enter(1, "a", cost: 1, priority: .normal, at: start)
        _ = queue.enter(2, "b", cost: 1, priority: .low, at: start)
        _ = queue.enter(3, "c", cost: 1, priority: .normal, at: start)
        _ = queue.enter(4, "d", cost: 1, priority: .normal, at: start)
        _ = queue.enter(5, "e", cost: 1, priority: .high, at: start)
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
        #expect(queue.enter(1, "a", cost: 10, priority: .normal, at: start) == .admitted)
        #expect(queue.enter(2, "a", cost: 10, priority: .normal, at: start) == .admitted)
        #expect(queue.enter(3, "b", cost: 10, priority: .normal, at: start) == .waits)
        #expect(queue.enter(4, "b", cost: 10, priority: .normal, at: start) == .waits)
        #expect((queue.workingCount, queue.waitingCount) == (1, 1))
        #expect(queue.leave(1).isEmpty)
        #expect(queue.leave(2) == [3, 4])
        #expect(queue.leave(3).isEmpty)
        #expect(queue.leave(4).isEmpty)
        #expect((queue.workingCount, queue.workingCost) == (0, 0))
    }

    @Test func boundsRefuse() {
        var queue = state(working: 1, count: 2, cost: 10)
        _ = queue.enter(1, "a", cost: 1, priority: .normal, at: start)
        #expect(queue.enter(2, "b", cost: 5, priority: .normal, at: start) == .waits)
        #expect(queue.enter(3, "c", cost: 6, priority: .normal, at: start) == .refused(.expensive))
        #expect(queue.enter(4, "d", cost: 5, priority: .normal, at: start) == .waits)
        #expect(queue.enter(5, "e", cost: 1, priority: .veryHigh, at: start) == .refused(.crowded))
        #expect(queue.waitingCost == 10)
        #expect(queue.enter(6, "f", cost: .max, priority: .normal, at: start) == .refused(.crowded))
    }

    @Test func loadThatLastsForLongerThanABurstLetsLittleWait() {
        var queue = CostQueueState<String>(
            limits: CostQueueLimits(
                working: 10, waitingCount: 100, waitingCost: 100, waitingTime: .seconds(60), standingCost: 4,
                burstTime: .seconds(5)))
        func enter(_ number: Int, cost: Int, after seconds: Double) -> CostQueueState<String>.Entry {
            queue.enter(number, "\(number)", cost: cost, priority: .normal, at: start + seconds)
        }
        #expect(enter(1, cost: 10, after: 0) == .admitted)
        // This much may stand: it is no burst.
        #expect(enter(2, cost: 4, after: 1) == .waits)
        #expect(enter(3, cost: 4, after: 10) == .waits)
        #expect(enter(4, cost: 4, after: 14.9) == .waits)
        #expect(queue.refusal(at: start + 14.9) == nil)
        #expect(enter(5, cost: 1, after: 15) == .refused(.overloaded))
        #expect(queue.refusal(at: start + 19) == .overloaded)
        // Refused callers keep it up.
        #expect(enter(6, cost: 1, after: 23.9) == .refused(.overloaded))
        #expect(queue.leave(2).isEmpty)
        #expect(queue.leave(3).isEmpty)
        #expect(enter(7, cost: 1, after: 24) == .refused(.overloaded))
        // A single place may cost more.
        #expect(queue.leave(4).isEmpty)
        #expect(enter(8, cost: 9, after: 24) == .waits)
        #expect(queue.refusal(at: start + 24) == .overloaded)
        // After as much time without more, the next burst may come.
        #expect(enter(9, cost: 9, after: 29) == .waits)
        #expect(enter(10, cost: 9, after: 33) == .waits)
        #expect(enter(11, cost: 9, after: 34) == .refused(.overloaded))
    }

    @Test func whoseCostIsNotKnownIsTakenForTheAverage() {
        var queue = CostQueueState<String>(
            limits: CostQueueLimits(
                working: 20, waitingCount: 2, waitingCost: 100, waitingTime: .seconds(60), standingCost: 10))
        #expect(queue.refusal(at: start) == nil)
        _ = queue.enter(1, "a", cost: 8, priority: .normal, at: start)
        // It would work.
        #expect(queue.refusal(at: start) == nil)
        _ = queue.enter(2, "b", cost: 8, priority: .normal, at: start)
        // It would wait alone.
        #expect(queue.refusal(at: start) == nil)
        _ = queue.enter(3, "c", cost: 8, priority: .normal, at: start)
        #expect(queue.refusal(at: start) == .overloaded)
        #expect(queue.enter(4, "d", cost: 2, priority: .normal, at: start) == .waits)
        #expect(queue.refusal(at: start) == .crowded)
        #expect(queue.has("d"))
        #expect(!queue.has("e"))
    }

    /// Callers that are expected take room from those that ask after them, and none from those that enter: that is theirs.
    @Test func underALastingLoadThoseThatAreExpectedCount() {
        var queue = CostQueueState<String>(
            limits: CostQueueLimits(
                working: 20, waitingCount: 9, waitingCost: 100, waitingTime: .seconds(60), standingCost: 8))
        func expects() -> CostQueueRefusal? {
            let refusal = queue.refusal(at: start)
            if refusal == nil { queue.expect() }
            return refusal
        }
        _ = queue.enter(1, "a", cost: 10, priority: .normal, at: start)
        // Whoever would work at once is refused for nobody who may come.
        for _ in 0..<9 { #expect(expects() == nil) }
        for _ in 0..<9 { queue.endExpecting() }
        #expect(queue.enter(2, "b", cost: 10, priority: .normal, at: start) == .admitted)
        // One will wait alone.
        #expect(expects() == nil)
        #expect(expects() == .overloaded)
        queue.endExpecting()
        #expect(expects() == nil)
        #expect(queue.enter(3, "c", cost: 10, priority: .normal, at: start) == .waits)
        #expect(queue.enter(4, "d", cost: 1, priority: .normal, at: start) == .refused(.overloaded))
        // Room that was promised stays.
        queue.endExpecting()
        #expect(queue.enter(5, "e", cost: 10, priority: .normal, at: start, isExpected: true) == .waits)
        #expect(queue.expectedCount == 0)
        #expect(queue.leave(1) == [3])
    }

    @Test func theCostOfThoseThatAreExpectedIsBounded() {
        var queue = CostQueueState<String>(
            limits: CostQueueLimits(
                working: .max, waitingCount: 9, waitingCost: .max, waitingTime: .seconds(60), standingCost: .max))
        _ = queue.enter(1, "a", cost: .max, priority: .normal, at: start)
        queue.expect()
        queue.expect()
        #expect(queue.refusal(at: start) == .overloaded)
    }

    /// The cost of all that waits bounds what waits, not what may come.
    @Test func thoseThatAreExpectedMakeNothingExpensive() {
        var queue = CostQueueState<String>(
            limits: CostQueueLimits(
                working: 10, waitingCount: 9, waitingCost: 20, waitingTime: .seconds(60), standingCost: 1000))
        _ = queue.enter(1, "a", cost: 10, priority: .normal, at: start)
        for _ in 0..<9 { queue.expect() }
        #expect(queue.refusal(at: start) == nil)
        _ = queue.enter(2, "b", cost: 10, priority: .normal, at: start)
        #expect(queue.refusal(at: start) == nil)
        _ = queue.enter(3, "c", cost: 1, priority: .normal, at: start)
        #expect(queue.enter(4, "d", cost: 10, priority: .normal, at: start) == .refused(.expensive))
    }

    @Test func whoLeavesMakesRoomForThoseBehind() {
        var queue = state()
        _ = queue.enter(1, "a", cost: 8, priority: .normal, at: start)
        _ = queue.enter(2, "b", cost: 9, priority: .normal, at: start)
        _ = queue.enter(3, "c", cost: 2, priority: .normal, at: start)
        // The second one has blocked the third.
        #expect(queue.leave(2) == [3])
        #expect(queue.leave(2).isEmpty)
        #expect(queue.workingCost == 10)
    }

    @Test func joiningRaisesThePriorityOfAPlace() {
        var queue = state(working: 1)
        _ = queue.enter(1, "a", cost: 1, priority: .normal, at: start)
        _ = queue.enter(2, "b", cost: 1, priority: .normal, at: start)
        _ = queue.enter(3, "c", cost: 1, priority: .low, at: start)
        _ = queue.enter(4, "c", cost: 1, priority: .high, at: start)
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

    @Test func aLastingLoadIsRefusedByTheClock() async throws {
        let clock = ManualClock()
        let queue = CostQueue<String>(
            limits: CostQueueLimits(
                working: 1, waitingCount: 9, waitingCost: 9, waitingTime: .seconds(60), standingCost: 1,
                burstTime: .seconds(5)), time: clock.timeSource)
        let gate = ScriptedTransportGate()
        let loads = ["a", "b", "c"].map { key in
            Task { try await queue.withPlace(for: key, cost: 1) { try await gate.wait() } }
        }
        try await until { queue.statistics.callers == 3 }
        _ = try queue.expect()
        clock.advance(by: .seconds(4))
        _ = try queue.expect()
        clock.advance(by: .seconds(1))
        #expect(throws: CostQueueRefusal.overloaded) { try queue.expect() }
        await #expect(throws: CostQueueRefusal.overloaded) { try await queue.withPlace(for: "d", cost: 1) {} }
        #expect(queue.statistics.refusals == 2)
        gate.open()
        for load in loads { try await load.value }
        try await queue.withPlace(for: "d", cost: 1) {}
        #expect(queue.statistics.callers == 0)
    }

    @Test func roomIsKeptUntilItsCallerEntersOrDropsIt() async throws {
        let queue = CostQueue<String>(
            limits: CostQueueLimits(
                working: 1, waitingCount: 9, waitingCost: 9, waitingTime: .seconds(60), standingCost: 0),
            time: ManualClock().timeSource)
        let gate = ScriptedTransportGate()
        async let held: Void = queue.withPlace(for: "held", cost: 1) { try await gate.wait() }
        try await until { queue.statistics.working == 1 }
        // One would wait alone.
        var rooms = [try queue.expect()]
        #expect(throws: CostQueueRefusal.overloaded) { try queue.expect() }
        #expect(throws: CostQueueRefusal.overloaded) { try queue.check() }
        rooms = []
        try queue.check()
        rooms = [try queue.expect()]
        gate.open()
        try await held
        // It is kept for work behind this one.
        try await queue.withPlace(for: "a", cost: 1, expectation: rooms[0], isLast: false) {
            _ = #expect(throws: CostQueueRefusal.overloaded) { try queue.expect() }
        }
        for _ in 0..<2 {
            // The second time it is nobody's room.
            try await queue.withPlace(for: "a", cost: 1, expectation: rooms[0]) {
                let other = try queue.expect()
                #expect(throws: CostQueueRefusal.overloaded) { try queue.expect() }
                withExtendedLifetime(other) {}
            }
        }
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
    private let costs = NIOLockedValueBox((now: 0, most: 0))

    var most: Int { costs.withLockedValue { $0.most } }

    func add(_ cost: Int) {
        costs.withLockedValue {
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
