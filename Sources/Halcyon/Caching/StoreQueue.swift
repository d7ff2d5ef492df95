import HalcyonSystem

/// Stores that nobody waits for, but for the end of the program: bounded in what they hold, and countable.
///
/// A slow disk or busy processors must neither delay an image that is ready nor fill the memory with what is still to be
/// written. What finds no room is not cached, which costs time later and nothing else.
final class StoreQueue: Sendable {
    private struct State {
        var bytes = 0
        var count = 0
        var lastWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let limit: Int
    private let state = Lock(State())

    /// - Parameter limit: bytes that may wait at the same time.
    init(limit: Int) {
        self.limit = limit
    }

    /// Runs `work`, which holds so many bytes, behind.
    ///
    /// - Returns: false where there is no room for it now.
    @discardableResult
    func add(bytes: Int, _ work: @escaping @Sendable () async -> Void) -> Bool {
        let isAdmitted = state.withLock { state in
            // One alone may be larger than the limit.
            guard state.count == 0 || state.bytes + bytes <= limit else { return false }
            state.bytes += bytes
            state.count += 1
            return true
        }
        guard isAdmitted else { return false }
        Task {
            await work()
            let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                state.bytes -= bytes
                state.count -= 1
                guard state.count == 0 else { return [] }
                defer { state.waiters = [:] }
                return Array(state.waiters.values)
            }
            for waiter in waiters { waiter.resume() }
        }
        return true
    }

    /// Returns when nothing waits any more, or when the task is cancelled.
    func drain() async {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    if state.count == 0 || Task.isCancelled { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }
}
