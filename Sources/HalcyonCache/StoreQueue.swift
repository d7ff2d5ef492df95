import HalcyonSystem

/// A queue of background stores, bounded by the bytes that they hold. Only the end of the program waits for them.
///
/// A slow disk or busy processors must neither delay a finished image nor fill the memory with pending writes. Stores to one
/// key run in order, and none takes effect after a newer one or a removal.
package final class StoreQueue: Sendable {
    /// Performs a store. It must check that the store is still wanted before it takes effect, and revert it if it is not wanted
    /// any more afterwards.
    package typealias Work = @Sendable (_ isWanted: @escaping @Sendable () -> Bool) async -> Void

    private struct Stores {
        let newest: Int
        var isVoid = false
        let task: Task<Void, Never>
    }

    private struct Waiter {
        let last: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var bytes = 0
        var lastNumber = 0
        var pending: Set<Int> = []
        var stores: [CacheKey: Stores] = [:]
        var waiters: [Int: Waiter] = [:]
    }

    private let limit: Int
    private let state = Lock(State())

    /// Creates a queue.
    ///
    /// - Parameter limit: the number of bytes that may wait at the same time.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Runs `work`, which holds the given number of bytes and stores to a key, in the background.
    ///
    /// - Parameter isForced: whether it is accepted beyond the limit, because a caller waits for it.
    /// - Returns: false if there is no room for it now.
    @discardableResult
    package func add(bytes: Int, to key: CacheKey, isForced: Bool = false, _ work: @escaping Work) -> Bool {
        state.withLock { state in
            // A single store may be larger than the limit.
            guard isForced || state.pending.isEmpty || state.bytes + bytes <= limit else { return false }
            state.lastNumber += 1
            let (number, former) = (state.lastNumber, state.stores[key]?.task)
            state.bytes += bytes
            state.pending.insert(number)
            let task = Task { [self] in
                await former?.value
                let isWanted: @Sendable () -> Bool = { [self] in isCurrent(number, key) }
                if isWanted() { await work(isWanted) }
                end(number, key, bytes: bytes)
            }
            state.stores[key] = Stores(newest: number, task: task)
            return true
        }
    }

    /// Whether a store to a key is in progress.
    package func isPending(_ key: CacheKey) -> Bool { state.withLock { $0.stores[key] != nil } }

    /// Waits until the stores to a key that were added so far have ended.
    package func wait(for key: CacheKey) async { await state.withLock { $0.stores[key]?.task }?.value }

    /// Marks the stores in progress to a key as not wanted any more.
    ///
    /// - Returns: a task that ends with them; nil if there are none.
    @discardableResult
    package func void(_ key: CacheKey) -> Task<Void, Never>? {
        state.withLock { state in
            state.stores[key]?.isVoid = true
            return state.stores[key]?.task
        }
    }

    /// Marks all stores in progress as not wanted any more.
    package func voidAll() {
        state.withLock { state in
            for key in state.stores.keys { state.stores[key]?.isVoid = true }
        }
    }

    private func isCurrent(_ number: Int, _ key: CacheKey) -> Bool {
        state.withLock { state in state.stores[key].map { $0.newest == number && !$0.isVoid } ?? false }
    }

    private func end(_ number: Int, _ key: CacheKey, bytes: Int) {
        let waiters = state.withLock { state -> [Waiter] in
            state.bytes -= bytes
            state.pending.remove(number)
            if state.stores[key]?.newest == number { state.stores[key] = nil }
            guard !state.waiters.isEmpty else { return [] }
            let first = state.pending.min() ?? .max
            let done = state.waiters.filter { $0.value.last < first }
            for id in done.keys { state.waiters[id] = nil }
            return Array(done.values)
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    /// Waits until all stores that were added so far have ended, also if the task is cancelled.
    package func drainAll() async {
        for task in state.withLock({ $0.stores.values.map(\.task) }) { await task.value }
    }

    /// Waits until all stores that were added so far have ended, or until the task is cancelled.
    package func drain() async {
        let (id, last) = state.withLock { state in
            let last = state.lastNumber
            state.lastNumber += 1
            return (state.lastNumber, last)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    if Task.isCancelled || (state.pending.min() ?? .max) > last { return true }
                    state.waiters[id] = Waiter(last: last, continuation: continuation)
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
        }
    }
}
