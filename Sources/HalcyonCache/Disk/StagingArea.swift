import HalcyonSystem
import Synchronization

/// The writes that wait for the disk: immediately readable, bounded in bytes, and written one after the other.
///
/// One write is in flight at a time, so that the writes of one key reach the disk in the order in which they were staged. A
/// key that is staged again while it waits keeps its place.
final class StagingArea: Sendable {
    struct Write: Sendable {
        let key: CacheKey
        let contents: EntryContents
        let cost: Int
        /// Distinguishes two writes of one key.
        fileprivate(set) var number = 0
    }

    private enum Item {
        /// A place in the queue for the newest write of this key. It is skipped if that write was dropped, or if the key
        /// now has another place.
        case write(CacheKey, number: Int)
        /// A waiter for the end of everything before this item.
        case barrier(CheckedContinuation<Void, Never>)
    }

    private struct Waiting {
        let id: Int
        let write: Write
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var writes: [CacheKey: Write] = [:]
        var numbers: [CacheKey: Int] = [:]
        var queue = Fifo<Item>()
        var waiting: [Waiting] = []
        var inFlight: Write?
        var isInFlightDropped = false
        var isRunning = false
        var bytes = 0
        var lastNumber = 0
    }

    /// A closure that is called if there is something to write and no writer is running: it calls `next()` until that
    /// returns nil.
    typealias Start = @Sendable () -> Void

    private let limit: Int
    private let state = Lock(State())
    /// A copy of `isRunning` that is available without the lock. While it is false, nothing is staged.
    private let isBusy = Atomic<Bool>(false)

    init(limit: Int) {
        self.limit = limit
    }

    var bytes: Int { state.withLock { $0.bytes } }

    /// The keys of all staged writes.
    var keys: [CacheKey] {
        state.withLock { state in
            Array(state.writes.keys) + (state.inFlight.map { [$0.key] } ?? [])
        }
    }

    /// Whether nothing is staged. Costs one atomic load.
    @inline(__always)
    var isIdle: Bool { !isBusy.load(ordering: .acquiring) }

    /// Returns the newest write of a key that is not on the disk yet.
    func write(for key: CacheKey) -> Write? {
        if isIdle { return nil }
        return state.withLock { state in
            if let write = state.writes[key] { return write }
            guard let write = state.inFlight, write.key == key, !state.isInFlightDropped else { return nil }
            return write
        }
    }

    // MARK: Adding

    /// Stages a write if there is room for it.
    func tryStage(_ contents: EntryContents, for key: CacheKey, start: Start) -> Bool {
        let write = Write(key: key, contents: contents, cost: contents.fileSize(for: key))
        let outcome = state.withLock { state -> (staged: Bool, mustStart: Bool) in
            guard state.waiting.isEmpty, hasRoom(for: write, in: state) else { return (false, false) }
            return (true, add(write, to: &state))
        }
        if outcome.mustStart { start() }
        return outcome.staged
    }

    /// Stages a write, and waits for room if there is none.
    ///
    /// - Returns: false if the task was cancelled before there was room.
    func stage(_ contents: EntryContents, for key: CacheKey, start: @escaping Start) async -> Bool {
        if tryStage(contents, for: key, start: start) { return true }
        let write = Write(key: key, contents: contents, cost: contents.fileSize(for: key))
        let id = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                var mustStart = false
                let outcome = state.withLock { state -> Bool? in
                    // Checked before the waiter is added, so that a cancellation is either seen here or finds the waiter in
                    // the handler below.
                    if Task.isCancelled { return false }
                    guard state.waiting.isEmpty, hasRoom(for: write, in: state) else {
                        state.waiting.append(Waiting(id: id, write: write, continuation: continuation))
                        return nil
                    }
                    mustStart = add(write, to: &state)
                    return true
                }
                if mustStart { start() }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            let waiting = state.withLock { state -> Waiting? in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
            }
            waiting?.continuation.resume(returning: false)
            admitWaiting(start: start)
        }
    }

    /// A write larger than the whole area is admitted if the area is empty, since otherwise it never would be.
    private func hasRoom(for write: Write, in state: State) -> Bool {
        state.bytes == 0 || state.bytes + write.cost <= limit
    }

    /// Adds a write to the queue.
    ///
    /// - Returns: whether a writer must be started.
    private func add(_ write: Write, to state: inout State) -> Bool {
        state.lastNumber += 1
        var write = write
        write.number = state.lastNumber
        state.bytes += write.cost
        if let former = state.writes.updateValue(write, forKey: write.key) {
            state.bytes -= former.cost
        } else {
            state.numbers[write.key] = write.number
            state.queue.append(.write(write.key, number: write.number))
        }
        isBusy.store(true, ordering: .releasing)
        defer { state.isRunning = true }
        return !state.isRunning
    }

    /// Stages the writes that wait for room, as far as there is room now.
    func admitWaiting(start: Start) {
        var admitted: [CheckedContinuation<Bool, Never>] = []
        let mustStart = state.withLock { state -> Bool in
            var mustStart = false
            while let first = state.waiting.first, hasRoom(for: first.write, in: state) {
                state.waiting.removeFirst()
                if add(first.write, to: &state) { mustStart = true }
                admitted.append(first.continuation)
            }
            return mustStart
        }
        if mustStart { start() }
        for continuation in admitted { continuation.resume(returning: true) }
    }

    // MARK: Dropping

    /// Drops the staged writes of a key. A write that is in flight must check `isInFlightWanted` before it takes effect.
    /// Call `admitWaiting` afterwards, once no lock is held.
    func drop(_ key: CacheKey) {
        state.withLock { state in
            if let write = state.writes.removeValue(forKey: key) {
                state.numbers[key] = nil
                state.bytes -= write.cost
            }
            if state.inFlight?.key == key { state.isInFlightDropped = true }
        }
    }

    /// Drops the staged writes of a key, except for those that were staged after `mark` had this value.
    func drop(_ key: CacheKey, upTo mark: Int) {
        state.withLock { state in
            if let write = state.writes[key], write.number <= mark {
                state.writes[key] = nil
                state.numbers[key] = nil
                state.bytes -= write.cost
            }
            if let write = state.inFlight, write.key == key, write.number <= mark { state.isInFlightDropped = true }
        }
    }

    /// Distinguishes the writes that were staged before this call from later ones.
    var mark: Int { state.withLock { $0.lastNumber } }

    /// Replaces the contents of a staged write, which keeps its place. If the write is in flight already, the new contents
    /// are queued as another write.
    ///
    /// - Returns: false if nothing is staged for the key, or if `change` returns nil.
    func replace(_ key: CacheKey, start: Start, _ change: (EntryContents) -> EntryContents?) -> Bool {
        let outcome = state.withLock { state -> (found: Bool, mustStart: Bool) in
            let inFlight = state.isInFlightDropped || state.inFlight?.key != key ? nil : state.inFlight
            guard let former = state.writes[key] ?? inFlight, let contents = change(former.contents) else {
                return (false, false)
            }
            let write = Write(key: key, contents: contents, cost: contents.fileSize(for: key))
            return (true, add(write, to: &state))
        }
        if outcome.mustStart { start() }
        return outcome.found
    }

    // MARK: Writing

    /// Returns the next write; nil if there is none left, and then the writer must stop.
    func next() -> Write? {
        while true {
            var reached: CheckedContinuation<Void, Never>?
            let write = state.withLock { state -> Write? in
                while let item = state.queue.popFirst() {
                    switch item {
                    case .barrier(let continuation):
                        reached = continuation
                        return nil
                    case .write(let key, let number):
                        guard state.numbers[key] == number, let write = state.writes.removeValue(forKey: key) else {
                            continue
                        }
                        state.numbers[key] = nil
                        state.inFlight = write
                        state.isInFlightDropped = false
                        return write
                    }
                }
                state.isRunning = false
                isBusy.store(false, ordering: .releasing)
                return nil
            }
            guard let reached else { return write }
            reached.resume()
        }
    }

    /// Whether the write that `next()` returned should still take effect.
    var isInFlightWanted: Bool { state.withLock { !$0.isInFlightDropped } }

    /// Ends the write that `next()` returned, which is on the disk or never will be.
    func finishInFlight(start: Start) {
        state.withLock { state in
            state.bytes -= state.inFlight?.cost ?? 0
            state.inFlight = nil
        }
        admitWaiting(start: start)
    }

    /// Returns when everything staged so far has been written or dropped.
    func flush() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                guard state.isRunning else { return true }
                state.queue.append(.barrier(continuation))
                return false
            }
            if isIdle { continuation.resume() }
        }
    }
}
