import HalcyonSystem
import Testing

@Suite(.timeLimit(.minutes(5))) struct ThreadPoolTests {
    private struct Failure: Error, Equatable {
        let number: Int
    }

    @Test func workRunsOnThreadsOfThePool() async throws {
        let pool = ThreadPool(name: "own", threads: 2)
        #expect(pool.threadCount == 2)
        for _ in 0..<20 {
            let name = try await pool.run { _ in threadName() }
            #expect(["own-0", "own-1"].contains(name))
        }
    }

    @Test func whileAThreadIsBlockedAnotherOfThePoolsNameServesItsQueue() async throws {
        let pool = ThreadPool(name: "own", threads: 1)
        let (isBlocked, mayGo) = (Gate(), Gate())
        async let blocked: Void = pool.run { _ in
            ThreadPool.blocking {
                isBlocked.open()
                mayGo.block()
            }
        }
        await isBlocked.opened()
        #expect(try await pool.run { _ in threadName() } == "own+")
        mayGo.open()
        try await blocked
        #expect(try await pool.run { _ in threadName() }.hasPrefix("own"))
    }

    @Test(arguments: [1, 2, 5])
    func poolRunsAsManyWorksAsThreads(threads: Int) async throws {
        let pool = ThreadPool(name: "wide", threads: threads)
        let (arrived, all) = (Lock(0), Gate())
        try await withThrowingTaskGroup { group in
            for _ in 0..<threads {
                group.addTask {
                    try await pool.run { _ in
                        // Nobody leaves before all are there.
                        if arrived.withLock({
                            $0 += 1
                            return $0 == threads
                        }) {
                            all.open()
                        }
                        all.block()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(arrived.withLock { $0 } == threads)
    }

    @Test(arguments: [0, -3])
    func thereIsAlwaysAThread(threads: Int) async throws {
        let pool = ThreadPool(name: "least", threads: threads)
        #expect(pool.threadCount == 1)
        #expect(try await pool.run { _ in 42 } == 42)
    }

    @Test func mostUrgentWorkRunsFirst() async throws {
        let blocked = await BlockedPool()
        for priority in [RequestPriority.low, .veryHigh, .veryLow, .normal, .high] {
            blocked.submit("\(priority)", priority)
        }
        try await blocked.drain()
        #expect(blocked.ran == ["veryHigh", "high", "normal", "low", "veryLow", "last"])
    }

    @Test func withinAPriorityTheFirstComesFirst() async throws {
        let blocked = await BlockedPool()
        for index in 0..<100 { blocked.submit("\(index)", index.isMultiple(of: 2) ? .high : .low) }
        try await blocked.drain()
        let order = (0..<100).filter { $0.isMultiple(of: 2) } + (0..<100).filter { !$0.isMultiple(of: 2) }
        #expect(blocked.ran == order.map(String.init) + ["last"])
    }

    @Test func raisedWorkOvertakes() async throws {
        let blocked = await BlockedPool()
        let (first, second, third) = (WorkTicket(), WorkTicket(priority: .high), WorkTicket(priority: .low))
        blocked.queue("first", first)
        blocked.queue("second", second)
        blocked.queue("third", third)
        third.priority = .veryHigh
        first.priority = .high
        #expect(third.priority == .veryHigh)
        try await blocked.drain()
        #expect(blocked.ran == ["third", "second", "first", "last"])
    }

    @Test func loweredWorkIsOvertaken() async throws {
        let blocked = await BlockedPool()
        let ticket = WorkTicket(priority: .veryHigh)
        blocked.queue("lowered", ticket)
        blocked.queue("other", WorkTicket())
        ticket.priority = .low
        try await blocked.drain()
        #expect(blocked.ran == ["other", "lowered", "last"])
    }

    @Test func workThatMovesBackAndForthRunsOnce() async throws {
        let blocked = await BlockedPool()
        let ticket = WorkTicket()
        blocked.queue("moved", ticket)
        blocked.queue("other", WorkTicket())
        for priority in [RequestPriority.high, .low, .normal, .veryHigh, .veryLow, .normal] {
            ticket.priority = priority
        }
        try await blocked.drain()
        #expect(blocked.ran.sorted() == ["last", "moved", "other"])
        // A change of priority after the end is not work.
        ticket.priority = .veryHigh
        #expect(try await blocked.pool.run { _ in true })
        #expect(blocked.ran.count == 3)
    }

    @Test func waitingWorkIsCancelledAtOnce() async throws {
        let blocked = await BlockedPool()
        let ticket = WorkTicket()
        let task = blocked.queue("cancelled", ticket)
        ticket.cancel()
        #expect(ticket.isCancelled)
        // The thread is still blocked.
        await #expect(throws: CancellationError.self) { try await task.value }
        try await blocked.drain()
        #expect(blocked.ran == ["last"])
    }

    @Test func cancellingTheAwaitingTaskCancelsWaitingWork() async throws {
        let blocked = await BlockedPool()
        let ticket = WorkTicket()
        let task = blocked.queue("cancelled", ticket)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(ticket.isCancelled)
        try await blocked.drain()
        #expect(blocked.ran == ["last"])
    }

    @Test func workCancelledBeforeQueueingNeverRuns() async throws {
        let blocked = await BlockedPool()
        let ticket = WorkTicket()
        ticket.cancel()
        let task = blocked.queue("cancelled", ticket)
        await #expect(throws: CancellationError.self) { try await task.value }
        // A priority of nothing.
        ticket.priority = .high
        try await blocked.drain()
        #expect(blocked.ran == ["last"])
    }

    @Test func runningWorkSeesThatItIsCancelled() async throws {
        let pool = ThreadPool(name: "running", threads: 1)
        let (ticket, running, cancelled) = (WorkTicket(), Gate(), Gate())
        let task = Task {
            try await pool.run(ticket: ticket) { context in
                let before = context.isCancelled
                running.open()
                cancelled.block()
                return (before, context.isCancelled)
            }
        }
        await running.opened()
        ticket.cancel()
        cancelled.open()
        // It ran to its end, so its result counts.
        #expect(try await task.value == (false, true))
    }

    @Test func runningWorkMayEndItselfWhenTheAwaitingTaskIsCancelled() async throws {
        let pool = ThreadPool(name: "running", threads: 1)
        let (running, cancelled) = (Gate(), Gate())
        let task = Task {
            try await pool.run { context in
                running.open()
                cancelled.block()
                try context.checkCancellation()
            }
        }
        await running.opened()
        task.cancel()
        cancelled.open()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func errorsPassThrough() async throws {
        let pool = ThreadPool(name: "errors", threads: 1)
        await #expect(throws: Failure(number: 7)) { try await pool.run { _ in throw Failure(number: 7) } }
        #expect(try await pool.run { _ in 1 } == 1)
    }

    @Test func aThousandRunsAtOnce() async throws {
        let pool = ThreadPool(name: "many", threads: 4)
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<1000 {
                let priority = RequestPriority.allCases[index % RequestPriority.allCases.count]
                group.addTask { try await pool.run(ticket: WorkTicket(priority: priority)) { _ in index } }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 999 * 1000 / 2)
    }

    @Test func cancellationsAndPriorityChangesFromEverywhereEndEachRunOnce() async throws {
        let pool = ThreadPool(name: "storm", threads: 2)
        let ran = Lock(0)
        let ended = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<500 {
                let ticket = WorkTicket()
                group.addTask {
                    do {
                        try await pool.run(ticket: ticket) { _ in ran.withLock { $0 += 1 } }
                        return true
                    } catch {
                        return false
                    }
                }
                group.addTask {
                    ticket.priority = index.isMultiple(of: 2) ? .high : .low
                    if index.isMultiple(of: 3) { ticket.cancel() }
                    return false
                }
            }
            return await group.reduce(into: 0) { if $1 { $0 += 1 } }
        }
        #expect(ended == ran.withLock { $0 })
        #expect(ended >= 500 * 2 / 3)
    }

    @Test func queuedWorkRunsAfterPoolIsReleased() async {
        let (count, done, gate) = (Lock(0), Gate(), Gate())
        do {
            let pool = ThreadPool(name: "gone", threads: 1)
            pool.submit { gate.block() }
            for _ in 0..<99 { pool.submit { count.withLock { $0 += 1 } } }
            pool.submit { done.open() }
        }
        gate.open()
        await done.opened()
        #expect(count.withLock { $0 } == 99)
    }
}
