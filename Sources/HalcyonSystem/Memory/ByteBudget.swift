import Dispatch

/// Bytes that are reserved, waited for and given back. No more than the capacity are ever out at once.
package final class ByteBudget: Sendable {
    /// Somebody who waits.
    final class Waiter: Sendable {
        let count: Int
        let priority: @Sendable () -> RequestPriority
        /// Called once the bytes are his, on whichever thread gave them back.
        let grant: @Sendable () -> Void

        init(
            count: Int, priority: @escaping @Sendable () -> RequestPriority, grant: @escaping @Sendable () -> Void
        ) {
            self.count = count
            self.priority = priority
            self.grant = grant
        }
    }

    private struct State {
        var available: Int { didSet { least = min(least, available) } }
        var least: Int
        /// In the order that they came.
        var waiters: [Waiter] = []
        /// How those who hold bytes for long are told that others wait.
        var lenders: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    package let capacity: Int
    private let state: Lock<State>

    package init(capacity: Int) {
        self.capacity = capacity
        state = Lock(State(available: capacity, least: capacity))
    }

    package var available: Int { state.withLock { $0.available } }
    /// The most bytes that were out at once so far.
    package var mostReserved: Int { capacity - state.withLock { $0.least } }
    package var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// Queues a waiter, whose `count` is no more than the capacity, and grants what there is.
    func add(_ waiter: Waiter) {
        let granted = state.withLock { state in
            state.waiters.append(waiter)
            return Self.takeGranted(&state)
        }
        granted.forEach { $0.grant() }
        askLenders()
    }

    func endLending(to hold: Hold) {
        // Freed outside of the lock.
        let giveBack = state.withLock { $0.lenders.removeValue(forKey: ObjectIdentifier(hold)) }
        withExtendedLifetime(giveBack) {}
    }

    /// Has what is held for long given back while others wait.
    private func askLenders() {
        let lenders = state.withLock { $0.waiters.isEmpty ? [] : Array($0.lenders.values) }
        for giveBack in lenders { giveBack() }
    }

    /// Takes a waiter back; false where the bytes are his already.
    func remove(_ waiter: Waiter) -> Bool {
        let (isRemoved, granted) = state.withLock { state -> (Bool, [Waiter]) in
            guard let index = state.waiters.firstIndex(where: { $0 === waiter }) else { return (false, []) }
            state.waiters.remove(at: index)
            // He may have stood before others who need less.
            return (true, Self.takeGranted(&state))
        }
        granted.forEach { $0.grant() }
        return isRemoved
    }

    /// Takes bytes whether they are there or not.
    func take(_ count: Int) { state.withLock { $0.available -= count } }

    package func release(_ count: Int) {
        let granted = state.withLock { state in
            state.available += count
            return Self.takeGranted(&state)
        }
        granted.forEach { $0.grant() }
    }

    /// Takes the bytes if they are there, `rest` beside them, and nobody waits for any.
    ///
    /// - Parameter lender: who is asked for them when somebody waits, from the moment on that they are taken.
    package func reserveNow(
        _ count: Int, leaving rest: Int = 0, lender: (id: ObjectIdentifier, giveBack: @Sendable () -> Void)? = nil
    ) -> Bool {
        state.withLock { state in
            guard state.waiters.isEmpty, count <= state.available - rest else { return false }
            state.available -= count
            if let lender { state.lenders[lender.id] = lender.giveBack }
            return true
        }
    }

    /// The first of the highest priority goes first, and nobody goes past him: who needs much would wait for ever.
    private static func takeGranted(_ state: inout State) -> [Waiter] {
        var granted: [Waiter] = []
        while let index = firstOfHighest(state.waiters), state.waiters[index].count <= state.available {
            let waiter = state.waiters.remove(at: index)
            state.available -= waiter.count
            granted.append(waiter)
        }
        return granted
    }

    /// Asks each for its priority once: it may change at any time, and whoever was found is to be there.
    private static func firstOfHighest(_ waiters: [Waiter]) -> Int? {
        var highest: (index: Int, priority: RequestPriority)?
        for (index, waiter) in waiters.enumerated() {
            let priority = waiter.priority()
            if highest.map({ $0.priority < priority }) ?? true { highest = (index, priority) }
        }
        return highest?.index
    }

    /// Waits on this thread, which may be one of a pool's.
    ///
    /// - Throws: `CancellationError`.
    package func waitForReservation(of count: Int, context: WorkContext) throws {
        if reserveNow(count) { return }
        try context.checkCancellation()
        let isGranted = DispatchSemaphore(value: 0)
        let waiter = Waiter(count: count, priority: { .normal }, grant: { isGranted.signal() })
        add(waiter)
        try ThreadPool.blocking {
            // A context can only be asked.
            while isGranted.wait(timeout: .now() + .milliseconds(20)) == .timedOut {
                guard context.isCancelled else { continue }
                if !remove(waiter) { release(count) }
                throw CancellationError()
            }
        }
    }
}
