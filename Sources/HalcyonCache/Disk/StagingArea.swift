import HalcyonSystem
import Synchronization

/// Writes that wait for the disk: readable at once, bounded in bytes, written one after the other.
///
/// One write is in flight at a time, so that the writes of one key reach the disk in the order they came. A key that is
/// staged again while it waits keeps its place.
final class StagingArea: Sendable {
    struct Write: Sendable {
        let key: DiskKey
        let contents: EntryContents
        let cost: Int
        /// Tells two writes of one key apart.
        fileprivate(set) var number = 0
    }

    private enum Item {
        /// The newest write of this key, unless it was dropped or has been taken at an earlier place.
        case write(DiskKey, place: Int)
        /// Somebody who waits until everything before this is done.
        case barrier(CheckedContinuation<Void, Never>)
    }

    private struct Waiting {
        let id: Int
        let write: Write
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var writes: [DiskKey: Write] = [:]
        var places: [DiskKey: Int] = [:]
        var queue = Fifo<Item>()
        var waiting: [Waiting] = []
        var inFlight: Write?
        var isInFlightDropped = false
        var isRunning = false
        var bytes = 0
        var lastNumber = 0
    }

    /// Called when there is something to write and nobody at it: calls `next()` until it returns nil.
    typealias Start = @Sendable () -> Void

    private let limit: Int
    private let state = Lock(State())
    /// `isRunning`, to be had without the lock: without it nothing is staged.
    private let isBusy = Atomic<Bool>(false)

    init(limit: Int) {
        self.limit = limit
    }

    var bytes: Int { state.withLock { $0.bytes } }

    /// Of all writes that are staged.
    var keys: [DiskKey] {
        state.withLock { state in
            Array(state.writes.keys) + (state.inFlight.map { [$0.key] } ?? [])
        }
    }

    /// Nothing is staged. A look at one number.
    @inline(__always)
    var isIdle: Bool { !isBusy.load(ordering: .acquiring) }

    /// The newest write of a key that is not on the disk yet.
    func write(for key: DiskKey) -> Write? {
        if isIdle { return nil }
        return state.withLock { state in
            if let write = state.writes[key] { return write }
            guard let write = state.inFlight, write.key == key, !state.isInFlightDropped else { return nil }
            return write
        }
    }

    // MARK: Adding

    /// Stages a write if there is room for it.
    func tryStage(_ contents: EntryContents, for key: DiskKey, start: Start) -> Bool {
        let write = Write(key: key, contents: contents, cost: contents.fileSize(for: key))
        let outcome = state.withLock { state -> (staged: Bool, mustStart: Bool) in
            guard state.waiting.isEmpty, hasRoom(for: write, in: state) else { return (false, false) }
            return (true, add(write, to: &state))
        }
        if outcome.mustStart { start() }
        return outcome.staged
    }

    /// Stages a write, once there is room for it.
    ///
    /// - Returns: false when the task was cancelled before there was.
    func stage(_ contents: EntryContents, for key: DiskKey, start: @escaping Start) async -> Bool {
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
                    // Set before the handler below runs, so that a cancellation is seen here or finds the waiter.
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

    /// Something larger than the whole area is let in when the area is empty, or it never would be.
    private func hasRoom(for write: Write, in state: State) -> Bool {
        state.bytes == 0 || state.bytes + write.cost <= limit
    }

    /// - Returns: whether somebody must be started.
    private func add(_ write: Write, to state: inout State) -> Bool {
        state.lastNumber += 1
        var write = write
        write.number = state.lastNumber
        state.bytes += write.cost
        if let former = state.writes.updateValue(write, forKey: write.key) {
            state.bytes -= former.cost
        } else {
            state.places[write.key] = write.number
            state.queue.append(.write(write.key, place: write.number))
        }
        isBusy.store(true, ordering: .releasing)
        defer { state.isRunning = true }
        return !state.isRunning
    }

    /// Stages what waits for room, as far as there is any now.
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

    /// Forgets what is staged for a key. A write that is in flight must ask `isInFlightWanted` before it takes effect.
    /// Call `admitWaiting` behind it, once no lock is held.
    func drop(_ key: DiskKey) {
        state.withLock { state in
            if let write = state.writes.removeValue(forKey: key) {
                state.places[key] = nil
                state.bytes -= write.cost
            }
            if state.inFlight?.key == key { state.isInFlightDropped = true }
        }
    }

    /// Forgets what is staged for a key, but for writes that came after `mark` was this.
    func drop(_ key: DiskKey, upTo mark: Int) {
        state.withLock { state in
            if let write = state.writes[key], write.number <= mark {
                state.writes[key] = nil
                state.places[key] = nil
                state.bytes -= write.cost
            }
            if let write = state.inFlight, write.key == key, write.number <= mark { state.isInFlightDropped = true }
        }
    }

    /// Tells the writes that were staged before this from later ones.
    var mark: Int { state.withLock { $0.lastNumber } }

    /// Puts other contents in place of a staged write's, at the same place.
    ///
    /// - Returns: false when nothing is staged for the key.
    func replace(_ key: DiskKey, start: Start, _ change: (EntryContents) -> EntryContents?) -> Bool {
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

    /// The next write; nil when there is none left, and whoever asked has to stop.
    func next() -> Write? {
        while true {
            var reached: CheckedContinuation<Void, Never>?
            let write = state.withLock { state -> Write? in
                while let item = state.queue.popFirst() {
                    switch item {
                    case .barrier(let continuation):
                        reached = continuation
                        return nil
                    case .write(let key, let place):
                        guard state.places[key] == place, let write = state.writes.removeValue(forKey: key) else {
                            continue
                        }
                        state.places[key] = nil
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

    /// Whether the write that `next()` gave is still to take effect.
    var isInFlightWanted: Bool { state.withLock { !$0.isInFlightDropped } }

    /// The write that `next()` gave is on the disk, or never will be.
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
