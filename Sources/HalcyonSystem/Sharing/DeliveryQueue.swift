/// A queue of values for one receiver, which gets them in order and one at a time.
///
/// The owner adds a value under its own lock, which fixes the order, and delivers after it has released the lock. A receiver
/// may resume a task, which takes the task's lock; and a cancellation handler that runs under the task's lock may take the
/// owner's. Delivering under the owner's lock could deadlock.
package final class DeliveryQueue<Value: Sendable>: Sendable {
    private struct State {
        var waiting: [Value] = []
        var isDelivering = false
    }

    private let state = Lock(State())
    private let receive: @Sendable (Value) -> Void

    package init(_ receive: @escaping @Sendable (Value) -> Void) {
        self.receive = receive
    }

    /// Adds a value. The caller calls `deliver()` once it holds no lock.
    package func add(_ value: Value) {
        state.withLock { $0.waiting.append(value) }
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
