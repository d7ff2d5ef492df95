/// A queue of values for one receiver, which gets them in order and one at a time.
///
/// The owner adds a value under its own lock, which fixes the order, and delivers after it has released the lock. A receiver
/// may resume a task, which takes the task's lock; and a cancellation handler that runs under the task's lock may take the
/// owner's. Delivering under the owner's lock could deadlock.
package final class DeliveryQueue<Value: Sendable>: Sendable {
    private struct State {
        var waiting: [Value] = []
        var isDelivering = false
        var isClosed = false
    }

    private let state = Lock(State())
    private let receive: @Sendable (Value) -> Void

    package init(_ receive: @escaping @Sendable (Value) -> Void) {
        self.receive = receive
    }

    /// Adds a value. The caller calls `deliver()` once it holds no lock.
    package func add(_ value: Value) {
        state.withLock { state in
            if !state.isClosed { state.waiting.append(value) }
        }
    }

    /// Adds a value in the place of those that wait, for a receiver that needs only the latest. The caller calls `deliver()` once
    /// it holds no lock.
    ///
    /// - Returns: whether none waited: otherwise the call of `deliver()` that is due delivers this one as well.
    @discardableResult
    package func replace(with value: Value) -> Bool {
        let former = state.withLock { state -> [Value]? in
            guard !state.isClosed else { return nil }
            defer { state.waiting = [value] }
            return state.waiting
        }
        return former?.isEmpty ?? false
    }

    /// Discards the values that wait. Nothing is delivered from now on, except for what is being delivered.
    package func close() {
        let discarded = state.withLock { state in
            defer { (state.waiting, state.isClosed) = ([], true) }
            return state.waiting
        }
        // Freed outside of the lock.
        withExtendedLifetime(discarded) {}
    }

    /// Delivers all queued values, unless another thread is delivering: that thread delivers these as well.
    package func deliver() {
        var isFirst = true
        while true {
            let batch = state.withLock { state -> [Value] in
                if isFirst, state.isDelivering { return [] }
                state.isDelivering = !state.waiting.isEmpty
                defer { state.waiting = [] }
                return state.waiting
            }
            if batch.isEmpty { return }
            isFirst = false
            for value in batch { receive(value) }
        }
    }
}
