import HalcyonSystem

/// The places for transfers that run at once: so many in all, so many for each host.
///
/// Who waits is served by priority, and within one in the order that is given. A priority is registered before anything
/// waits under it, so that no change is lost between the two. Finding the next costs O(hosts that wait).
final class TransferSlots: Sendable {
    private struct Waiter {
        let host: String
        var priority: RequestPriority
        /// Which of its entries in the queues is the valid one; the others are left behind by changes of priority.
        var sequence: Int
        /// Whether it is the next step of a transfer that has started, which goes on while the queue is suspended.
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
        /// Those that run without a place: they have left it to others.
        var aside: Set<Int> = []
        /// Those that run.
        var placed: Set<Int> = []
        var asideLimit: Int
        var sequence = 0
        var hosts: [String: Host] = [:]
        var priorities: [Int: RequestPriority] = [:]
        var waiters: [Int: Waiter] = [:]
    }

    /// At least one of each.
    struct Limits: Sendable {
        var perHost: Int
        var total: Int
    }

    private let state: Lock<State>
    private let order: DownloadOrder

    /// - Parameter aside: how many may run besides `total` once they have left their place.
    init(perHost: Int, total: Int, aside: Int = 0, order: DownloadOrder = .firstInFirstOut) {
        state = Lock(
            State(limits: Limits(perHost: max(1, perHost), total: max(1, total)), asideLimit: max(0, aside)))
        self.order = order
    }

    var waitingCount: Int { state.withLock { $0.waiters.count } }
    var runningCount: Int { state.withLock { $0.running + $0.aside.count } }
    var isSuspended: Bool { state.withLock { $0.isSuspended } }
    var limits: Limits { state.withLock { $0.limits } }

    /// Who runs beyond lower limits goes on; higher ones start what waits at once.
    func changeLimits(_ change: (inout Limits) -> Void) {
        resumeNext { state in
            change(&state.limits)
            state.limits = Limits(perHost: max(1, state.limits.perHost), total: max(1, state.limits.total))
        }
    }

    /// While suspended nothing gets a place but the next steps of what has started.
    func setSuspended(_ isSuspended: Bool) {
        resumeNext { $0.isSuspended = isSuspended }
    }

    func register(_ id: Int, priority: RequestPriority) {
        state.withLock { $0.priorities[id] = priority }
    }

    func forget(_ id: Int) {
        state.withLock { $0.priorities[id] = nil }
    }

    /// Moves a waiter to the end of its new priority; one that runs keeps its place.
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

    /// Waits for a place, runs `body` in it and gives it back.
    ///
    /// - Parameter goesOn: whether it is the next step of a transfer that has started.
    /// - Throws: `expiry` when there was no place by the deadline.
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
        /// As many are aside as may be; whether a host waits of which nothing runs.
        case full(isWantedByOthers: Bool)
        /// It runs no more, or is aside already.
        case hasNone
    }

    /// Leaves a transfer's place to others, while it runs on; it still counts among those of its host.
    func stepAside(_ id: Int) -> StepAside {
        var answer = StepAside.hasNone
        resumeNext { state in
            guard state.placed.contains(id), !state.aside.contains(id) else { return }
            guard state.aside.count < state.asideLimit else {
                // Where all hosts have a part of the way, it is the way that is slow.
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

    /// Whether there was a place without waiting, as there mostly is.
    private func enter(_ id: Int, _ host: String, goesOn: Bool, until deadline: ContinuousClock.Instant?) -> Bool {
        guard !Task.isCancelled, deadline.map({ $0 > .now }) ?? true else { return false }
        return state.withLock { Self.takePlace(id, host, goesOn: goesOn, &$0) }
    }

    /// Places are given away as they come free, so nobody waits for one that is free here.
    private static func takePlace(_ id: Int, _ host: String, goesOn: Bool, _ state: inout State) -> Bool {
        guard state.running < state.limits.total, state.hosts[host]?.running ?? 0 < state.limits.perHost,
            goesOn || !state.isSuspended
        else { return false }
        state.running += 1
        state.placed.insert(id)
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
            // Read under the lock too: the alarm after this finds the waiter.
            if let deadline, deadline <= .now { return .failure(expiry) }
            if Self.takePlace(id, host, goesOn: goesOn, &state) { return .success(()) }
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
            state.placed.remove(id)
            if state.aside.remove(id) == nil { state.running -= 1 }
            state.hosts[host]?.running -= 1
            Self.dropIfUnused(host, &state)
        }
    }

    /// Makes a change that may give places to some who wait, and lets those go on.
    private func resumeNext(after change: (inout State) -> Void) {
        let next = state.withLock { state -> [Waiter] in
            change(&state)
            var next: [Waiter] = []
            while state.running < state.limits.total, let waiter = takeNext(&state) { next.append(waiter) }
            return next
        }
        for waiter in next { waiter.continuation.resume() }
    }

    /// The most urgent of those whose host has room, and among equals the one whose turn it is.
    private func takeNext(_ state: inout State) -> Waiter? {
        var best: (id: Int, waiter: Waiter)?
        for (name, host) in state.hosts where host.waiting > 0 && host.running < state.limits.perHost {
            guard let id = nextWaiter(of: name, &state), let waiter = state.waiters[id] else { continue }
            if let current = best?.waiter, !isBefore(waiter, current) { continue }
            best = (id, waiter)
        }
        guard let (id, waiter) = best else { return nil }
        // Its entry in the queue is passed over later.
        state.waiters[id] = nil
        state.hosts[waiter.host]?.waiting -= 1
        state.hosts[waiter.host]?.running += 1
        state.running += 1
        state.placed.insert(id)
        return waiter
    }

    private func isBefore(_ left: Waiter, _ right: Waiter) -> Bool {
        guard left.priority == right.priority else { return left.priority > right.priority }
        return order == .newestFirst ? left.sequence > right.sequence : left.sequence < right.sequence
    }

    private func nextWaiter(of host: String, _ state: inout State) -> Int? {
        if state.isSuspended {
            // Only what runs can go on, so this is looked through no more often than that ends.
            let steps = state.waiters.filter { $0.value.goesOn && $0.value.host == host }
            return steps.min { isBefore($0.value, $1.value) }?.key
        }
        // Looks past the entries whose waiter has left or moved, and drops them.
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
        if let place = state.hosts[host], place.running == 0, place.waiting == 0 { state.hosts[host] = nil }
    }

    /// Entries whose waiter has left or moved lie in the queues until it would be their turn, and that may never come:
    /// once they are the most of them, they go.
    private static func dropLeftEntries(of host: String, _ state: inout State) {
        guard var place = state.hosts[host], place.entries > 64 + 2 * place.waiting else { return }
        for index in place.queues.indices {
            var kept = Fifo<Entry>()
            while let entry = place.queues[index].popFirst() {
                if state.waiters[entry.id]?.sequence == entry.sequence { kept.append(entry) }
            }
            place.queues[index] = kept
        }
        state.hosts[host] = place
    }
}
