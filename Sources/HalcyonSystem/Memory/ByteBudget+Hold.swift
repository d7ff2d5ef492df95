extension ByteBudget {
    /// A reservation of bytes, which returns to the budget when the object is released.
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

        /// Adds bytes that are reserved already.
        fileprivate func take(_ count: Int) { self.count.withLock { $0 += count } }

        /// Reserves more without waiting, for work that proved to need more than estimated: the budget may be overdrawn then,
        /// and later reservations wait until it has recovered.
        package func grow(to total: Int) {
            let more = count.withLock { count in
                defer { count = max(count, total) }
                return total - count
            }
            if more > 0 { budget.take(more) }
        }
    }

    /// Reserves bytes if they are available now, with `rest` bytes to spare, and there are no waiters; else returns nil.
    ///
    /// - Parameter giveBack: called, on any thread, when others wait for bytes: the owner of the reservation should release it.
    package func holdNow(_ count: Int, leaving rest: Int = 0, giveBack: (@Sendable () -> Void)? = nil) -> Hold? {
        let hold = Hold(0, of: self)
        let lender = giveBack.map { (id: ObjectIdentifier(hold), giveBack: $0) }
        guard reserveNow(count, leaving: rest, lender: lender) else { return nil }
        hold.take(count)
        return hold
    }

    /// Waits for a reservation of bytes, of at most the capacity.
    ///
    /// - Throws: `CancellationError` when the ticket or the awaiting task is cancelled before the bytes are granted.
    package func hold(_ count: Int, ticket: WorkTicket) async throws -> Hold {
        let count = min(count, capacity)
        if let hold = holdNow(count) { return hold }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Hold, any Error>) in
                wait(
                    for: count, ticket: ticket,
                    grant: { continuation.resume(returning: Hold(count, of: self)) },
                    abandon: { continuation.resume(throwing: CancellationError()) })
            }
        } onCancel: {
            ticket.cancel()
        }
    }
}
