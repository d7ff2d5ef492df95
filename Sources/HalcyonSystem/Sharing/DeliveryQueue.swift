/// The values on their way to one receiver, which gets them in order and one at a time.
///
/// The owner adds a value under its own lock, which fixes the order, and delivers outside of it. A receiver may wake a task:
/// that takes the task's lock, and a cancellation handler that runs under the task's lock may ask for the owner's.
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

    /// Adds a value. The caller delivers once it holds no lock.
    package func add(_ value: Value) {
        state.withLock { $0.waiting.append(value) }
    }

    /// Delivers all that waits, unless another thread is at it: that one delivers these as well.
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
