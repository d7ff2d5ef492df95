import HalcyonCache
import HalcyonSystem

/// Stores that nobody waits for, but for the end of the program: bounded in what they hold, and countable.
///
/// A slow disk or busy processors must neither delay an image that is ready nor fill the memory with what is still to be
/// written. Those of one place follow each other, and none takes effect behind a newer one or a removal.
final class StoreQueue: Sendable {
    /// Does a store. Ask whether it is still wanted before it takes effect, and take it back if it is not any more then.
    typealias Work = @Sendable (_ isWanted: @escaping @Sendable () -> Bool) async -> Void

    private struct Place {
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
        var places: [DiskKey: Place] = [:]
        var waiters: [Int: Waiter] = [:]
    }

    private let limit: Int
    private let state = Lock(State())

    /// - Parameter limit: bytes that may wait at the same time.
    init(limit: Int) {
        self.limit = limit
    }

    /// Runs `work`, which holds so many bytes and stores to a key, behind.
    ///
    /// - Parameter isForced: whether it is taken for any number of bytes, since somebody waits for it.
    /// - Returns: false where there is no room for it now.
    @discardableResult
    func add(bytes: Int, to key: DiskKey, isForced: Bool = false, _ work: @escaping Work) -> Bool {
        state.withLock { state in
            // One alone may be larger than the limit.
            guard isForced || state.pending.isEmpty || state.bytes + bytes <= limit else { return false }
            state.lastNumber += 1
            let (number, former) = (state.lastNumber, state.places[key]?.task)
            state.bytes += bytes
            state.pending.insert(number)
            let task = Task { [self] in
                await former?.value
                let isWanted: @Sendable () -> Bool = { [self] in isCurrent(number, key) }
                if isWanted() { await work(isWanted) }
                end(number, key, bytes: bytes)
            }
            state.places[key] = Place(newest: number, task: task)
            return true
        }
    }

    /// Whether a store to a key is under way.
    func isPending(_ key: DiskKey) -> Bool { state.withLock { $0.places[key] != nil } }

    /// What is under way to a key is not wanted any more.
    ///
    /// - Returns: ends with it; nil where there is nothing.
    @discardableResult
    func void(_ key: DiskKey) -> Task<Void, Never>? {
        state.withLock { state in
            state.places[key]?.isVoid = true
            return state.places[key]?.task
        }
    }

    /// Nothing that is under way is wanted any more.
    func voidAll() {
        state.withLock { state in
            for key in state.places.keys { state.places[key]?.isVoid = true }
        }
    }

    private func isCurrent(_ number: Int, _ key: DiskKey) -> Bool {
        state.withLock { state in state.places[key].map { $0.newest == number && !$0.isVoid } ?? false }
    }

    private func end(_ number: Int, _ key: DiskKey, bytes: Int) {
        let waiters = state.withLock { state -> [Waiter] in
            state.bytes -= bytes
            state.pending.remove(number)
            if state.places[key]?.newest == number { state.places[key] = nil }
            guard !state.waiters.isEmpty else { return [] }
            let first = state.pending.min() ?? .max
            let done = state.waiters.filter { $0.value.last < first }
            for id in done.keys { state.waiters[id] = nil }
            return Array(done.values)
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    /// Returns when nothing waits any more of what was added so far, or when the task is cancelled.
    func drain() async {
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
