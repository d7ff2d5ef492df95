import Foundation
import HalcyonSystem
import HalcyonTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ManualClockTests {
    @Test func aWaitEndsWhenItsMomentHasCome() async throws {
        let clock = ManualClock()
        let source = clock.timeSource
        let end = Task { () -> Date in
            try await source.wait(for: .seconds(10))
            return source.now
        }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(9))
        // Still there: a second waiter makes two.
        let other = Task { try await source.wait(for: .seconds(1)) }
        try await clock.waitForSleepers(2)
        let due = clock.now.addingTimeInterval(1)
        clock.advance(by: .seconds(1))
        #expect(try await end.value == due)
        try await other.value
    }

    @Test func aCancelledWaitThrows() async throws {
        let clock = ManualClock()
        let source = clock.timeSource
        let task = Task { try await source.wait(for: .seconds(10)) }
        try await clock.waitForSleepers()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func repeatingWorkGoesOnUntilItIsLetGo() async throws {
        let clock = ManualClock()
        let (turns, continuation) = AsyncStream.makeStream(of: Date.self)
        let source = clock.timeSource
        var work: RepeatingWork? = RepeatingWork(every: .seconds(120), timeSource: source) {
            continuation.yield(source.now)
        }
        var iterator = turns.makeAsyncIterator()
        let start = clock.now
        for turn in 1...3 {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(120))
            #expect(await iterator.next() == start.addingTimeInterval(Double(turn) * 120))
        }
        try await clock.waitForSleepers()
        withExtendedLifetime(work) {}
        work = nil
        continuation.finish()
        #expect(await iterator.next() == nil)
    }
}
