import HalcyonSystem

/// The slots for concurrent transfers: a number in all, and a number for each host.
///
/// Waiters get slots by priority, and among equal priorities in the given order. A priority is registered before a
/// transfer waits with it, so that no change in between is lost. Finding the next waiter is O(n) in the number of hosts
/// with waiters.
final class TransferSlots: Sendable {
    private struct Waiter {
        let host: String
        var priority: RequestPriority
        /// The number of its valid entry in the queues; changes of priority leave invalid ones behind.
        var sequence: Int
        /// Whether it is the next step of a transfer that has started, which continues while the queue is suspended.
        let goesOn: Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Entry {
        let id: Int
        let sequence: Int
    }

    private struct Host {
        var running = 0
        var waiting = 0
        var queues = [Fifo<Entry>](repeating: Fifo(), count: RequestPriority.allCases.count)

        var entries: Int { queues.reduce(0) { $0 + $1.count } }
    }

    private struct State {
        var limits: Limits
        var isSuspended = false
        var running = 0
        /// The transfers that run without a slot, which they have given up.
        var aside: Set<Int> = []
        /// The running transfers, with and without a slot.
        var started: Set<Int> = []
        var asideLimit: Int
        var sequence = 0
        var hosts: [String: Host] = [:]
        var priorities: [Int: RequestPriority] = [:]
        var waiters: [Int: Waiter] = [:]
    }

    /// The numbers of slots, at least 1 each.
    struct Limits: Sendable {
        var perHost: Int
        var total: Int
    }

    private let state: Lock<State>
    private let order: DownloadOrder

    /// Creates the slots.
    ///
    /// - Parameter aside: The number of transfers that may run in addition to `total` after they have given up their slots.
    init(perHost: Int, total: Int, aside: Int = 0, order: DownloadOrder = .firstInFirstOut) {
        state = Lock(
            State(limits: Limits(perHost: max(1, perHost), total: max(1, total)), asideLimit: max(0, aside)))
        self.order = order
    }

    var waitingCount: Int { state.withLock { $0.waiters.count } }
    var runningCount: Int { state.withLock { $0.running + $0.aside.count } }
    var isSuspended: Bool { state.withLock { $0.isSuspended } }
    var limits: Limits { state.withLock { $0.limits } }

    /// Changes the limits. Running transfers beyond lower limits continue; higher limits start waiting transfers at once.
    func changeLimits(_ change: (inout Limits) -> Void) {
        resumeNext { state in
            change(&state.limits)
            state.limits = Limits(perHost: max(1, state.limits.perHost), total: max(1, state.limits.total))
        }
    }

    /// Suspends or resumes the queue. While it is suspended, only the next steps of started transfers get a slot.
    func setSuspended(_ isSuspended: Bool) {
        resumeNext { $0.isSuspended = isSuspended }
    }

    func register(_ id: Int, priority: RequestPriority) {
        state.withLock { $0.priorities[id] = priority }
    }

    func forget(_ id: Int) {
        state.withLock { $0.priorities[id] = nil }
    }

    /// Changes a priority and moves a waiter to the end of the new one; a running transfer keeps its slot.
    func setPriority(_ id: Int, _ priority: RequestPriority) {
        state.withLock { state in
            guard state.priorities[id] != nil, state.priorities[id] != priority else { return }
            state.priorities[id] = priority
            guard var waiter = state.waiters[id] else { return }
            state.sequence += 1
            waiter.priority = priority
            waiter.sequence = state.sequence
            state.waiters[id] = waiter
            let entry = Entry(id: id, sequence: waiter.sequence)
            state.hosts[waiter.host]?.queues[priority.rawValue].append(entry)
            Self.dropLeftEntries(of: waiter.host, &state)
        }
    }

    /// Waits for a slot, runs `body` with it and releases it.
    ///
    /// - Parameter goesOn: Whether it is the next step of a transfer that has started.
    /// - Throws: `expiry` if there was no slot by the deadline.
    func withSlot<Value: Sendable>(
        _ id: Int, host: String, goesOn: Bool = false, until deadline: ContinuousClock.Instant?,
        expiry: @autoclosure () -> DownloadError, _ body: () async throws -> Value
    ) async throws -> Value {
        if !enter(id, host, goesOn: goesOn, until: deadline) {
            try await wait(id, host: host, goesOn: goesOn, until: deadline, expiry: expiry())
        }
        defer { release(id, host) }
        return try await body()
    }

    enum StepAside: Equatable {
        case done
        /// As many transfers as allowed have already given up their slots; `isWantedByOthers` is whether a host without
        /// running transfers has waiters.
        case full(isWantedByOthers: Bool)
        /// The transfer no longer runs, or has already given up its slot.
        case hasNone
    }

    /// Gives up the slot of a transfer, which continues to run; it still counts among the transfers of its host.
    func stepAside(_ id: Int) -> StepAside {
        var answer = StepAside.hasNone
        resumeNext { state in
            guard state.started.contains(id), !state.aside.contains(id) else { return }
            guard state.aside.count < state.asideLimit else {
                // If every host has running transfers, the network itself is slow.
                answer = .full(
                    isWantedByOthers: !state.isSuspended
                        && state.hosts.values.contains { $0.waiting > 0 && $0.running == 0 })
                return
            }
            state.aside.insert(id)
            state.running -= 1
            answer = .done
        }
        return answer
    }

    /// Takes a slot without waiting, which is mostly possible; returns whether there was one.
    private func enter(_ id: Int, _ host: String, goesOn: Bool, until deadline: ContinuousClock.Instant?) -> Bool {
        guard !Task.isCancelled, deadline.map({ $0 > .now }) ?? true else { return false }
        return state.withLock { Self.takeSlot(id, host, goesOn: goesOn, &$0) }
    }

    /// Takes a slot if there is one. Slots are passed to waiters as they become free, so a free one has no waiter.
    private static func takeSlot(_ id: Int, _ host: String, goesOn: Bool, _ state: inout State) -> Bool {
        guard state.running < state.limits.total, state.hosts[host]?.running ?? 0 < state.limits.perHost,
            goesOn || !state.isSuspended
        else { return false }
        state.running += 1
        state.started.insert(id)
        state.hosts[host, default: Host()].running += 1
        return true
    }

    private func wait(
        _ id: Int, host: String, goesOn: Bool, until deadline: ContinuousClock.Instant?, expiry: DownloadError
    ) async throws {
        let alarm = deadline.map { deadline in
            Task.detached {
                try await Task.sleep(until: deadline, clock: .continuous)
                self.leave(id, with: expiry)
            }
        }
        defer { alarm?.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(id, host: host, goesOn: goesOn, until: deadline, expiry: expiry, continuation)
            }
        } onCancel: {
            leave(id, with: CancellationError())
        }
    }

    private func enter(
        _ id: Int, host: String, goesOn: Bool, until deadline: ContinuousClock.Instant?, expiry: DownloadError,
        _ continuation: CheckedContinuation<Void, any Error>
    ) {
        let answer = state.withLock { state -> Result<Void, any Error>? in
            // Read under the lock: a cancellation after this finds the waiter.
            guard !Task.isCancelled else { return .failure(CancellationError()) }
            // Also read under the lock: the alarm after this finds the waiter.
            if let deadline, deadline <= .now { return .failure(expiry) }
            if Self.takeSlot(id, host, goesOn: goesOn, &state) { return .success(()) }
            let priority = state.priorities[id] ?? .normal
            state.sequence += 1
            state.waiters[id] = Waiter(
                host: host, priority: priority, sequence: state.sequence, goesOn: goesOn, continuation: continuation)
            state.hosts[host, default: Host()].waiting += 1
            state.hosts[host]?.queues[priority.rawValue].append(Entry(id: id, sequence: state.sequence))
            return nil
        }
        if let answer { continuation.resume(with: answer) }
    }

    private func leave(_ id: Int, with error: any Error) {
        let waiter = state.withLock { state -> Waiter? in
            guard let waiter = state.waiters.removeValue(forKey: id) else { return nil }
            state.hosts[waiter.host]?.waiting -= 1
            Self.dropIfUnused(waiter.host, &state)
            Self.dropLeftEntries(of: waiter.host, &state)
            return waiter
        }
        waiter?.continuation.resume(throwing: error)
    }

    private func release(_ id: Int, _ host: String) {
        resumeNext { state in
            state.started.remove(id)
            if state.aside.remove(id) == nil { state.running -= 1 }
            state.hosts[host]?.running -= 1
            Self.dropIfUnused(host, &state)
        }
    }

    /// Makes a change that may free slots, and resumes the waiters that get them.
    private func resumeNext(after change: (inout State) -> Void) {
        let next = state.withLock { state -> [Waiter] in
            change(&state)
            var next: [Waiter] = []
            while state.running < state.limits.total, let waiter = takeNext(&state) { next.append(waiter) }
            return next
        }
        for waiter in next { waiter.continuation.resume() }
    }

    /// Returns the waiter with the highest priority among the hosts that have room; among equals, the first by the order.
    private func takeNext(_ state: inout State) -> Waiter? {
        var best: (id: Int, waiter: Waiter)?
        for (name, host) in state.hosts where host.waiting > 0 && host.running < state.limits.perHost {
            guard let id = nextWaiter(of: name, &state), let waiter = state.waiters[id] else { continue }
            if let current = best?.waiter, !isBefore(waiter, current) { continue }
            best = (id, waiter)
        }
        guard let (id, waiter) = best else { return nil }
        // Its entry in the queue is skipped later.
        state.waiters[id] = nil
        state.hosts[waiter.host]?.waiting -= 1
        state.hosts[waiter.host]?.running += 1
        state.running += 1
        state.started.insert(id)
        return waiter
    }

    private func isBefore(_ left: Waiter, _ right: Waiter) -> Bool {
        guard left.priority == right.priority else { return left.priority > right.priority }
        return order == .newestFirst ? left.sequence > right.sequence : left.sequence < right.sequence
    }

    private func nextWaiter(of host: String, _ state: inout State) -> Int? {
        if state.isSuspended {
            // Only running transfers can have further steps, so this search runs no more often than those steps end.
            let steps = state.waiters.filter { $0.value.goesOn && $0.value.host == host }
            return steps.min { isBefore($0.value, $1.value) }?.key
        }
        // Skips and removes the entries whose waiter has left or moved.
        for index in RequestPriority.allCases.indices.reversed() {
            while let queue = state.hosts[host]?.queues[index],
                let entry = order == .newestFirst ? queue.last : queue.first
            {
                if state.waiters[entry.id]?.sequence == entry.sequence { return entry.id }
                switch order {
                case .firstInFirstOut: _ = state.hosts[host]?.queues[index].popFirst()
                case .newestFirst: _ = state.hosts[host]?.queues[index].popLast()
                }
            }
        }
        return nil
    }

    private static func dropIfUnused(_ host: String, _ state: inout State) {
        if let unused = state.hosts[host], unused.running == 0, unused.waiting == 0 { state.hosts[host] = nil }
    }

    /// Removes the invalid entries of a host, once they are the majority. Otherwise the entries of waiters that have
    /// left or moved would stay until their turn, which may never come.
    private static func dropLeftEntries(of host: String, _ state: inout State) {
        guard var changed = state.hosts[host], changed.entries > 64 + 2 * changed.waiting else { return }
        for index in changed.queues.indices {
            var kept = Fifo<Entry>()
            while let entry = changed.queues[index].popFirst() {
                if state.waiters[entry.id]?.sequence == entry.sequence { kept.append(entry) }
            }
            changed.queues[index] = kept
        }
        state.hosts[host] = changed
    }
}
