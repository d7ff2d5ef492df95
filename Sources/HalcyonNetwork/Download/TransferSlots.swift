import HalcyonSystem

/// The places for transfers that run at once: so many in all, so many for each host.
///
/// Who waits is served by priority, and first come first served within one. A priority is registered before anything
/// waits under it, so that no change is lost between the two. Finding the next costs O(hosts that wait).
final class TransferSlots: Sendable {
    private struct Waiter {
        let host: String
        var priority: RequestPriority
        /// Which of its entries in the queues is the valid one; the others are left behind by changes of priority.
        var sequence: Int
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
    }

    private struct State {
        var running = 0
        var sequence = 0
        var hosts: [String: Host] = [:]
        var priorities: [Int: RequestPriority] = [:]
        var waiters: [Int: Waiter] = [:]
    }

    private let state = Lock(State())
    private let perHost: Int
    private let total: Int

    init(perHost: Int, total: Int) {
        self.perHost = max(1, perHost)
        self.total = max(1, total)
    }

    var waitingCount: Int { state.withLock { $0.waiters.count } }

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
        }
    }

    /// Waits for a place, runs `body` in it and gives it back.
    ///
    /// - Throws: `expiry` when there was no place by the deadline.
    func withSlot<Value: Sendable>(
        _ id: Int, host: String, until deadline: ContinuousClock.Instant?, expiry: DownloadError,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let alarm = deadline.map { deadline in
            Task.detached {
                try await Task.sleep(until: deadline, clock: .continuous)
                self.leave(id, with: expiry)
            }
        }
        defer { alarm?.cancel() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enter(id, host: host, until: deadline, expiry: expiry, continuation)
            }
        } onCancel: {
            leave(id, with: CancellationError())
        }
        defer { release(host) }
        alarm?.cancel()
        return try await body()
    }

    private func enter(
        _ id: Int, host: String, until deadline: ContinuousClock.Instant?, expiry: DownloadError,
        _ continuation: CheckedContinuation<Void, any Error>
    ) {
        let answer = state.withLock { state -> Result<Void, any Error>? in
            // Read under the lock: a cancellation after this finds the waiter.
            guard !Task.isCancelled else { return .failure(CancellationError()) }
            // Read under the lock too: the alarm after this finds the waiter.
            if let deadline, deadline <= .now { return .failure(expiry) }
            var place = state.hosts[host] ?? Host()
            defer { state.hosts[host] = place }
            // Places are given away as they come free, so nobody waits for one that is free here.
            if state.running < total, place.running < perHost {
                state.running += 1
                place.running += 1
                return .success(())
            }
            let priority = state.priorities[id] ?? .normal
            state.sequence += 1
            state.waiters[id] = Waiter(
                host: host, priority: priority, sequence: state.sequence, continuation: continuation)
            place.waiting += 1
            place.queues[priority.rawValue].append(Entry(id: id, sequence: state.sequence))
            return nil
        }
        if let answer { continuation.resume(with: answer) }
    }

    private func leave(_ id: Int, with error: any Error) {
        let waiter = state.withLock { state -> Waiter? in
            guard let waiter = state.waiters.removeValue(forKey: id) else { return nil }
            state.hosts[waiter.host]?.waiting -= 1
            Self.dropIfUnused(waiter.host, &state)
            return waiter
        }
        waiter?.continuation.resume(throwing: error)
    }

    private func release(_ host: String) {
        let next = state.withLock { state -> Waiter? in
            state.running -= 1
            state.hosts[host]?.running -= 1
            let next = takeNext(&state)
            Self.dropIfUnused(host, &state)
            return next
        }
        next?.continuation.resume()
    }

    /// The most urgent of those whose host has room, and among equals the one that has waited longest.
    private func takeNext(_ state: inout State) -> Waiter? {
        var best: (id: Int, waiter: Waiter)?
        for (name, host) in state.hosts where host.waiting > 0 && host.running < perHost {
            guard let id = Self.firstWaiter(of: name, &state), let waiter = state.waiters[id] else { continue }
            if let current = best?.waiter,
                (current.priority, -current.sequence) >= (waiter.priority, -waiter.sequence)
            {
                continue
            }
            best = (id, waiter)
        }
        guard let (id, waiter) = best else { return nil }
        state.waiters[id] = nil
        _ = state.hosts[waiter.host]?.queues[waiter.priority.rawValue].popFirst()
        state.hosts[waiter.host]?.waiting -= 1
        state.hosts[waiter.host]?.running += 1
        state.running += 1
        return waiter
    }

    /// Looks past the entries whose waiter has left or moved, and drops them.
    private static func firstWaiter(of host: String, _ state: inout State) -> Int? {
        for index in RequestPriority.allCases.indices.reversed() {
            while let entry = state.hosts[host]?.queues[index].first {
                if state.waiters[entry.id]?.sequence == entry.sequence { return entry.id }
                _ = state.hosts[host]?.queues[index].popFirst()
            }
        }
        return nil
    }

    private static func dropIfUnused(_ host: String, _ state: inout State) {
        if let place = state.hosts[host], place.running == 0, place.waiting == 0 { state.hosts[host] = nil }
    }
}
