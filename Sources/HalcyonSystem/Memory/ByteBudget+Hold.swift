extension ByteBudget {
    /// Bytes that come back when the object goes.
    package final class Hold: Sendable {
        private let count: Lock<Int>
        private let budget: ByteBudget

        fileprivate init(_ count: Int, of budget: ByteBudget) {
            self.count = Lock(count)
            self.budget = budget
        }

        deinit {
            budget.endLending(to: self)
            budget.release(count.withLock { $0 })
        }

        /// Holds bytes that are reserved already.
        fileprivate func take(_ count: Int) { self.count.withLock { $0 += count } }

        /// Takes more without waiting, where what is held proved to be more than was thought: the budget is overdrawn
        /// then, and who comes next waits for all of it.
        package func grow(to total: Int) {
            let more = count.withLock { count in
                defer { count = max(count, total) }
                return total - count
            }
            if more > 0 { budget.take(more) }
        }
    }

    /// Bytes that are there now, `rest` beside them, while nobody waits for any; else nil.
    ///
    /// - Parameter giveBack: called, on any thread, when others wait for bytes: whoever holds these lets go of them.
    package func holdNow(_ count: Int, leaving rest: Int = 0, giveBack: (@Sendable () -> Void)? = nil) -> Hold? {
        let hold = Hold(0, of: self)
        let lender = giveBack.map { (id: ObjectIdentifier(hold), giveBack: $0) }
        guard reserveNow(count, leaving: rest, lender: lender) else { return nil }
        hold.take(count)
        return hold
    }

    /// Bytes that are waited for, no more than the capacity.
    ///
    /// - Throws: `CancellationError` when the ticket or the awaiting task is cancelled before they are there.
    package func hold(_ count: Int, ticket: WorkTicket) async throws -> Hold {
        let count = min(count, capacity)
        if let hold = holdNow(count) { return hold }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Hold, any Error>) in
                let waiter = Waiter(count: count, priority: { ticket.priority }) {
                    continuation.resume(returning: Hold(count, of: self))
                }
                wait(as: waiter, ticket: ticket) { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            ticket.cancel()
        }
    }

    /// Queues a waiter for as long as its ticket is not cancelled; either it is granted or `abandon` is called, once.
    func wait(as waiter: Waiter, ticket: WorkTicket, abandon: @escaping @Sendable () -> Void) {
        let isWaiting = ticket.state.withLock { state in
            guard !state.isCancelled else { return false }
            // The queue holds him for as long as he waits. He knows the ticket, which must not keep him longer.
            state.onCancel = { [weak waiter] in
                if let waiter, self.remove(waiter) { abandon() }
            }
            return true
        }
        if isWaiting { add(waiter) }
        // Cancelled before it stood in the queue, or now.
        if !isWaiting || (ticket.isCancelled && remove(waiter)) { abandon() }
    }
}
