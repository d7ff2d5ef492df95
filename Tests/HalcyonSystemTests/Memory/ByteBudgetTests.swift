import HalcyonSystem
import Testing

@testable import HalcyonSystem

@Suite(.timeLimit(.minutes(5))) struct ByteBudgetTests {
    private let pool = ThreadPool(name: "budget", threads: 4)

    /// Work that waits for bytes; it stands in the queue, or has them, when this returns.
    private func start(
        _ name: String, _ count: Int, of budget: ByteBudget, in record: Record,
        ticket: WorkTicket = WorkTicket(), until gate: Gate? = nil
    ) -> Task<Void, any Error> {
        Task.immediate {
            try await pool.run(ticket: ticket, reserving: count, of: budget) { _ in
                record.note(name)
                gate?.block()
            }
        }
    }

    @Test func workThatFitsStartsImmediately() async throws {
        let budget = ByteBudget(capacity: 10)
        let (record, gate) = (Record(), Gate())
        let first = start("first", 6, of: budget, in: record, until: gate)
        let second = start("second", 4, of: budget, in: record, until: gate)
        #expect(budget.available == 0)
        #expect(budget.waitingCount == 0)
        gate.open()
        try await first.value
        try await second.value
        #expect(budget.available == 10)
    }

    private struct Weak {
        weak var ticket: WorkTicket?
    }

    private func ticketThatHasWaited(for budget: ByteBudget) async throws -> Weak {
        var all = budget.holdNow(budget.capacity)
        #expect(all != nil)
        let ticket = WorkTicket()
        let task = Task.immediate { _ = try await budget.hold(1, ticket: ticket) }
        #expect(budget.waitingCount == 1)
        all = nil
        try await task.value
        return Weak(ticket: ticket)
    }

    /// A waiter refers to its ticket, and the ticket to the waiter's cancellation: they must not retain each other.
    @Test func aTicketThatHasWaitedIsNotKept() async throws {
        let kept = try await ticketThatHasWaited(for: ByteBudget(capacity: 10))
        // The task lets go of it a moment after its value is there.
        while kept.ticket != nil { await Task.yield() }
    }

    @Test func smallWorkDoesNotOvertakeLargeWork() async throws {
        let budget = ByteBudget(capacity: 10)
        let (record, gate) = (Record(), Gate())
        let holder = start("holder", 5, of: budget, in: record, until: gate)
        let large = start("large", 10, of: budget, in: record)
        let small = start("small", 1, of: budget, in: record)
        #expect(budget.waitingCount == 2)
        gate.open()
        for task in [holder, large, small] { try await task.value }
        #expect(record.names == ["holder", "large", "small"])
        #expect(budget.available == 10)
    }

    @Test func mostUrgentReservationIsServedFirst() async throws {
        let budget = ByteBudget(capacity: 10)
        let (record, gate) = (Record(), Gate())
        let holder = start("holder", 10, of: budget, in: record, until: gate)
        let raised = WorkTicket(priority: .low)
        let tasks = [
            start("low", 10, of: budget, in: record, ticket: WorkTicket(priority: .low)),
            start("high", 10, of: budget, in: record, ticket: WorkTicket(priority: .high)),
            start("raised", 10, of: budget, in: record, ticket: raised),
        ]
        raised.priority = .veryHigh
        gate.open()
        for task in [holder] + tasks { try await task.value }
        #expect(record.names == ["holder", "raised", "high", "low"])
    }

    @Test func cancelledWorkLeavesQueueToOthers() async throws {
        let budget = ByteBudget(capacity: 10)
        let (record, gate) = (Record(), Gate())
        let holder = start("holder", 5, of: budget, in: record, until: gate)
        let large = start("large", 10, of: budget, in: record)
        let small = start("small", 5, of: budget, in: record)
        large.cancel()
        await #expect(throws: CancellationError.self) { try await large.value }
        try await small.value
        gate.open()
        try await holder.value
        #expect(!record.names.contains("large"))
        #expect(budget.available == 10)
    }

    @Test func cancelledTicketReservesNothing() async throws {
        let budget = ByteBudget(capacity: 10)
        let ticket = WorkTicket()
        ticket.cancel()
        let task = start("late", 5, of: budget, in: Record(), ticket: ticket)
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(budget.available == 10)
        #expect(budget.waitingCount == 0)
    }

    @Test func anErrorGivesTheBytesBack() async throws {
        struct Failure: Error {}
        let budget = ByteBudget(capacity: 10)
        await #expect(throws: Failure.self) {
            try await pool.run(ticket: WorkTicket(), reserving: 10, of: budget) { _ in throw Failure() }
        }
        #expect(budget.available == 10)
    }

    /// The work that holds the bytes stands behind the one that waits for them, on the pool's only thread.
    @Test func aThreadThatWaitsLetsOthersWork() async throws {
        let single = ThreadPool(name: "single", threads: 1)
        let budget = ByteBudget(capacity: 10)
        let (entered, gate) = (Gate(), Gate())
        let waiting = Task {
            try await single.run { context in
                entered.open()
                gate.block()
                try budget.waitForReservation(of: 10, context: context)
                budget.release(10)
            }
        }
        await entered.opened()
        let holder = Task.immediate {
            try await single.run(ticket: WorkTicket(), reserving: 10, of: budget) { _ in }
        }
        #expect(budget.available == 0)
        gate.open()
        try await waiting.value
        try await holder.value
        #expect(budget.available == 10)
        // The pool goes on with its own thread.
        #expect(try await single.run { _ in threadName() } == "single-0")
    }

    /// Nobody gives the bytes back: the thread goes on only because its work is cancelled.
    @Test func aThreadThatWaitsEndsWithACancellation() async throws {
        let budget = ByteBudget(capacity: 10)
        #expect(budget.reserveNow(10))
        let isCancelled = Lock(false)
        let context = WorkContext { isCancelled.withLock { $0 } }
        let waiting = Task { try await pool.run { _ in try budget.waitForReservation(of: 5, context: context) } }
        while budget.waitingCount == 0 { await Task.yield() }
        isCancelled.withLock { $0 = true }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(budget.waitingCount == 0)
        budget.release(10)
        #expect(budget.available == 10)
    }

    /// A thousand works of all sizes, a third of them cancelled: what is out never exceeds the capacity, and all of it
    /// comes back.
    @Test func reservationsNeverExceedCapacity() async throws {
        let budget = ByteBudget(capacity: 100)
        let (held, most) = (Lock(0), Lock(0))
        await withTaskGroup { group in
            for index in 0..<1000 {
                group.addTask {
                    let count = 1 + index * 37 % 100
                    let ticket = WorkTicket(priority: RequestPriority.allCases[index % 5])
                    let work = Task {
                        try await pool.run(ticket: ticket, reserving: count, of: budget) { _ in
                            let now = held.withLock { held in
                                held += count
                                return held
                            }
                            most.withLock { $0 = max($0, now) }
                            held.withLock { $0 -= count }
                        }
                    }
                    if index % 3 == 0 { ticket.cancel() }
                    _ = try? await work.value
                }
            }
        }
        #expect(most.withLock { $0 } <= 100)
        #expect(budget.available == 100)
        #expect(budget.waitingCount == 0)
    }
}
