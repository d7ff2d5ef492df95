/// A queue of values for one receiver, which gets them in order and one at a time.
///
/// The owner adds a value under its own lock, which fixes the order, and delivers after it has released the lock. A receiver
/// may resume a task, which takes the task's lock; and a cancellation handler that runs under the task's lock may take the
/// owner's. Delivering under the owner's lock could deadlock.
///
/// All methods can be inlined, so that the module of each owner specializes them.
@usableFromInline
package final class DeliveryQueue<Value: Sendable>: Sendable {
    @usableFromInline
    struct State {
        /// The value that is delivered next; apart from the others, so that one value alone allocates nothing.
        @usableFromInline var first: Value?
        @usableFromInline var others = Fifo<Value>()
        @usableFromInline var isDelivering = false
        @usableFromInline var isClosed = false

        @inlinable init() {}
    }

    @usableFromInline let state = Lock(State())
    @usableFromInline let receive: @Sendable (Value) -> Void

    @inlinable
    package init(_ receive: @escaping @Sendable (Value) -> Void) {
        self.receive = receive
    }

    /// Adds a value. The caller calls `deliver()` once it holds no lock.
    @inlinable
    package func add(_ value: Value) {
        state.withLock { state in
            if state.isClosed { return }
            if state.first == nil { state.first = value } else { state.others.append(value) }
        }
    }

    /// Adds a value in the place of the one that waits, for a receiver that needs only the latest. Such a queue is not added to
    /// in another way. The caller calls `deliver()` once it holds no lock.
    ///
    /// - Returns: whether none waited: otherwise the call of `deliver()` that is due delivers this one as well.
    @discardableResult
    @inlinable
    package func replace(with value: Value) -> Bool {
        let (wasEmpty, former) = state.withLock { state -> (Bool, Value?) in
            if state.isClosed { return (false, nil) }
            defer { state.first = value }
            return (state.first == nil, state.first)
        }
        // Freed outside of the lock.
        withExtendedLifetime(former) {}
        return wasEmpty
    }

    /// Discards the values that wait. Nothing is delivered from now on, except for what is being delivered.
    @inlinable
    package func close() {
        let discarded = state.withLock { state in
            defer { (state.first, state.others, state.isClosed) = (nil, Fifo(), true) }
            return (state.first, state.others)
        }
        // Freed outside of the lock.
        withExtendedLifetime(discarded) {}
    }

    /// Delivers all queued values, unless another thread is delivering: that thread delivers these as well.
    @inlinable
    package func deliver() {
        var isFirst = true
        while true {
            let next = state.withLock { state -> Value? in
                if isFirst, state.isDelivering { return nil }
                state.isDelivering = state.first != nil
                defer { state.first = state.others.popFirst() }
                return state.first
            }
            guard let next else { return }
            isFirst = false
            receive(next)
        }
    }
}
