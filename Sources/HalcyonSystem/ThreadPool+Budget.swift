extension ThreadPool {
    /// Runs `body` on one of the threads once `count` bytes are reserved for it, and gives them back when it ends.
    ///
    /// While the work waits for bytes it holds no thread; once it has them it is queued at once, so that nothing but
    /// the pool's own threads decides when they come back.
    ///
    /// - Parameter count: no more than the capacity.
    /// - Throws: what `body` throws; `CancellationError` when the ticket or the awaiting task is cancelled before it ran.
    package func run<Value: Sendable>(
        ticket: WorkTicket, reserving count: Int, of budget: ByteBudget,
        _ body: @escaping @Sendable (WorkContext) throws -> Value
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
                let waiter = ByteBudget.Waiter(count: count, priority: { [ticket] in ticket.priority }) {
                    self.submit(
                        ticket: ticket,
                        run: {
                            let result = Result { try body(ticket.context) }
                            budget.release(count)
                            continuation.resume(with: result)
                        },
                        abandon: {
                            budget.release(count)
                            continuation.resume(throwing: CancellationError())
                        })
                }
                budget.wait(as: waiter, ticket: ticket) { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            ticket.cancel()
        }
    }
}
