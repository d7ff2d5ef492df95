import Dispatch

/// A budget of bytes, which are reserved, waited for and released. Reservations together do not exceed the capacity, except by
/// `Hold.grow(to:)`.
package final class ByteBudget: Sendable {
    /// A waiter for bytes: either `grant` or `abandon` is called, once.
    private final class Waiter: WorkTicketListener {
        let count: Int
        private let budget: ByteBudget
        private let ticket: WorkTicket?
        /// Called once the bytes are reserved for the waiter, on the thread that released them.
        private let grant: @Sendable () -> Void
        private let abandon: @Sendable () -> Void

        init(
            for count: Int, of budget: ByteBudget, ticket: WorkTicket? = nil, grant: @escaping @Sendable () -> Void,
            abandon: @escaping @Sendable () -> Void = {}
        ) {
            (self.count, self.budget, self.ticket) = (count, budget, ticket)
            (self.grant, self.abandon) = (grant, abandon)
        }

        var priority: RequestPriority { ticket?.priority ?? .normal }

        /// Queues the waiter for as long as its ticket is not cancelled.
        func begin() {
            guard ticket?.add(self) ?? true else { return abandon() }
            budget.add(self)
            // Cancelled before the waiter was queued.
            if ticket?.isCancelled ?? false { cancelled() }
        }

        func granted() {
            ticket?.remove(self)
            grant()
        }

        func cancelled() {
            if budget.remove(self) { abandon() }
        }

        /// The budget reads the priority when it grants bytes.
        func priorityChanged(of ticket: WorkTicket) {}
    }

    private struct State {
        var available: Int { didSet { least = min(least, available) } }
        var least: Int
        /// The waiters, in the order of their arrival.
        var waiters: [Waiter] = []
        /// The closures that ask the owners of long reservations to release them when others wait.
        var lenders: [ObjectIdentifier: @Sendable () -> Void] = [:]
    }

    package let capacity: Int
    private let state: Lock<State>

    package init(capacity: Int) {
        self.capacity = capacity
        state = Lock(State(available: capacity, least: capacity))
    }

    package var available: Int { state.withLock { $0.available } }
    /// The maximum number of bytes that were reserved at the same time so far.
    package var maximumReserved: Int { capacity - state.withLock { $0.least } }
    package var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// Waits for bytes, at most the capacity. Either `grant` or `abandon` is called, once.
    ///
    /// - Parameters:
    ///   - grant: Called once the bytes are reserved, on the thread that released them.
    ///   - abandon: Called if the ticket is cancelled first.
    func wait(
        for count: Int, ticket: WorkTicket, grant: @escaping @Sendable () -> Void,
        abandon: @escaping @Sendable () -> Void
    ) {
        Waiter(for: count, of: self, ticket: ticket, grant: grant, abandon: abandon).begin()
    }

    /// Queues a waiter, whose `count` is at most the capacity, and grants the available bytes.
    private func add(_ waiter: Waiter) {
        let granted = state.withLock { state in
            state.waiters.append(waiter)
            return Self.takeGranted(&state)
        }
        granted.forEach { $0.granted() }
        askLenders()
    }

    func endLending(to hold: Hold) {
        // The closure is released outside of the lock.
        let giveBack = state.withLock { $0.lenders.removeValue(forKey: ObjectIdentifier(hold)) }
        withExtendedLifetime(giveBack) {}
    }

    /// Asks the owners of long reservations to release them while others wait.
    private func askLenders() {
        let lenders = state.withLock { $0.waiters.isEmpty ? [] : Array($0.lenders.values) }
        for giveBack in lenders { giveBack() }
    }

    /// Removes a waiter; returns false if its bytes are granted already.
    private func remove(_ waiter: Waiter) -> Bool {
        let (isRemoved, granted) = state.withLock { state -> (Bool, [Waiter]) in
            guard let index = state.waiters.firstIndex(where: { $0 === waiter }) else { return (false, []) }
            state.waiters.remove(at: index)
            // The waiter may have blocked others that need less.
            return (true, Self.takeGranted(&state))
        }
        granted.forEach { $0.granted() }
        return isRemoved
    }

    /// Reserves bytes whether they are available or not.
    func take(_ count: Int) { state.withLock { $0.available -= count } }

    package func release(_ count: Int) {
        let granted = state.withLock { state in
            state.available += count
            return Self.takeGranted(&state)
        }
        granted.forEach { $0.granted() }
    }

    /// Reserves bytes if they are available, with `rest` bytes to spare, and there are no waiters.
    ///
    /// - Parameter lender: the closure that is called when others wait, registered in the same step as the reservation.
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

    /// Grants bytes to the first waiter of the highest priority, and to no other before it: a waiter that needs many bytes
    /// would otherwise wait for ever.
    private static func takeGranted(_ state: inout State) -> [Waiter] {
        var granted: [Waiter] = []
        while let index = firstOfHighest(state.waiters), state.waiters[index].count <= state.available {
            let waiter = state.waiters.remove(at: index)
            state.available -= waiter.count
            granted.append(waiter)
        }
        return granted
    }

    /// Returns the index of the first waiter of the highest priority. Reads each priority once, since it may change at any time
    /// and the maximum must belong to a waiter.
    private static func firstOfHighest(_ waiters: [Waiter]) -> Int? {
        var highest: (index: Int, priority: RequestPriority)?
        for (index, waiter) in waiters.enumerated() {
            let priority = waiter.priority
            if highest.map({ $0.priority < priority }) ?? true { highest = (index, priority) }
        }
        return highest?.index
    }

    /// Reserves bytes and blocks the calling thread until they are granted; the thread may be one of a pool.
    ///
    /// - Throws: `CancellationError`.
    package func waitForReservation(of count: Int, context: WorkContext) throws {
        if reserveNow(count) { return }
        try context.checkCancellation()
        let isGranted = DispatchSemaphore(value: 0)
        let waiter = Waiter(for: count, of: self, grant: { isGranted.signal() })
        add(waiter)
        try ThreadPool.blocking {
            // A context has no callback for its cancellation, so it is polled.
            while isGranted.wait(timeout: .now() + .milliseconds(20)) == .timedOut {
                guard context.isCancelled else { continue }
                if !remove(waiter) { release(count) }
                throw CancellationError()
            }
        }
    }
}
