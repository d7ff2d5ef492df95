import Foundation
import HalcyonCache
import HalcyonSystem

/// A store of entries in memory, for tests of what uses a `CacheStore`: several caches that share one see each other's entries,
/// as the machines of a fleet do.
public final class MemoryCacheStore: CacheStore {
    /// The error of every store while `isReachable` is false.
    public struct NotReachable: Error {}

    fileprivate struct Kept {
        var entry: CacheEntry
        var end: Date?
    }

    fileprivate struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<CacheClaim, Never>
    }

    fileprivate struct State {
        var entries: [CacheKey: Kept] = [:]
        var isReachable = true
        var lookUps = 0
        /// The waiters of each claim that is granted, in the order in which they came.
        var claims: [CacheKey: [Waiter]] = [:]
        var lastID = 0
        /// The tests that wait for a number of waiters.
        var watchers: [(count: Int, gate: ScriptedTransportGate)] = []

        var waiterCount: Int { claims.values.reduce(0) { $0 + $1.count } }
    }

    private let time: TimeSource
    private let claimWait: Duration
    private let state = Lock(State())

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - time: the clock by which entries expire and waits for claims end; the system's by default.
    ///   - claimWait: the time for which a claim is waited for; 5 seconds by default.
    public init(time: TimeSource = .system, claimWait: Duration = .seconds(5)) {
        (self.time, self.claimWait) = (time, claimWait)
    }

    /// Whether the store can be reached. While it cannot, look-ups find nothing, stores throw and claims are not given; removals
    /// are carried out.
    public var isReachable: Bool {
        get { state.withLock { $0.isReachable } }
        set { state.withLock { $0.isReachable = newValue } }
    }

    /// The number of look-ups so far.
    public var lookUpCount: Int { state.withLock { $0.lookUps } }
    /// The keys of all entries, in no particular order.
    public var keys: [CacheKey] { state.withLock { Array($0.entries.keys) } }
    /// The number of callers that wait for a claim.
    public var waiterCount: Int { state.withLock { $0.waiterCount } }

    /// Returns once at least `count` callers wait for a claim.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func waitForWaiters(_ count: Int = 1) async throws {
        let gate = state.withLock { state -> ScriptedTransportGate? in
            guard state.waiterCount < count else { return nil }
            let gate = ScriptedTransportGate()
            state.watchers.append((count, gate))
            return gate
        }
        try await gate?.wait()
    }

    public func entry(for key: CacheKey) async -> CacheEntry? {
        let now = time.now
        return state.withLock { state in
            state.lookUps += 1
            return state.isReachable && !Task.isCancelled ? state.entry(key, now) : nil
        }
    }

    public func store(
        _ data: Data, metadata: Data, extended: Data, for key: CacheKey, expiration: StorageExpiration?
    ) async throws {
        try Task.checkCancellation()
        let now = time.now
        let lifetime = (expiration ?? .never).lifetime(from: now)
        let waiters = try state.withLock { state -> [Waiter] in
            guard state.isReachable else {
                state.entries[key] = nil
                throw NotReachable()
            }
            guard lifetime > 0 else { return [] }
            let end = lifetime.isInfinite ? nil : now.addingTimeInterval(lifetime)
            let entry = CacheEntry(
                data: data, metadata: metadata, extended: extended, keptUntil: end, storedAt: now)
            state.entries[key] = Kept(entry: entry, end: end)
            defer { state.claims[key]?.removeAll() }
            return state.claims[key] ?? []
        }
        for waiter in waiters { waiter.continuation.resume(returning: .stored) }
    }

    public func updateMetadata(
        _ metadata: Data, for key: CacheKey, replacing former: Data?, expiration: StorageExpiration?
    ) async throws -> Bool {
        let now = time.now
        return try state.withLock { state in
            guard state.isReachable else { throw NotReachable() }
            guard let entry = state.entry(key, now), former.map({ $0 == entry.metadata }) ?? true else { return false }
            var end = entry.keptUntil
            if let lifetime = expiration?.lifetime(from: now) {
                end = lifetime.isInfinite ? nil : now.addingTimeInterval(lifetime)
            }
            let updated = CacheEntry(
                data: entry.data, metadata: metadata, extended: entry.extended, keptUntil: end,
                storedAt: entry.storedAt)
            state.entries[key] = Kept(entry: updated, end: end)
            return state.entry(key, now) != nil
        }
    }

    public func remove(_ key: CacheKey) async { state.withLock { $0.entries[key] = nil } }

    public func clear() async { state.withLock { $0.entries = [:] } }

    public func usage() async -> CacheStoreUsage? {
        state.withLock { state in
            CacheStoreUsage(
                entries: state.entries.count,
                bytes: state.entries.values.reduce(0) {
                    $0 + $1.entry.data.count + $1.entry.metadata.count + $1.entry.extended.count
                })
        }
    }
}

extension MemoryCacheStore.State {
    fileprivate mutating func entry(_ key: CacheKey, _ now: Date) -> CacheEntry? {
        guard let kept = entries[key] else { return nil }
        if let end = kept.end, end <= now {
            entries[key] = nil
            return nil
        }
        return kept.entry
    }
}

// MARK: - Claims

extension MemoryCacheStore {
    public func claim(_ key: CacheKey) async -> CacheClaim {
        let (now, id) = (time.now, state.withLock { $0.nextID() })
        let timer = Task { [time, claimWait, weak self] in
            try await time.wait(for: claimWait)
            self?.giveUp(id, key)
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                var due: [ScriptedTransportGate] = []
                let answer = state.withLock { state -> CacheClaim? in
                    guard state.isReachable, !Task.isCancelled else { return .alone }
                    if state.entry(key, now) != nil { return .stored }
                    guard state.claims[key] == nil else {
                        state.claims[key]?.append(Waiter(id: id, continuation: continuation))
                        let count = state.waiterCount
                        due = state.watchers.filter { $0.count <= count }.map(\.gate)
                        state.watchers.removeAll { $0.count <= count }
                        return nil
                    }
                    state.claims[key] = []
                    return .granted(token(key))
                }
                if let answer { continuation.resume(returning: answer) }
                for gate in due { gate.open() }
            }
        } onCancel: {
            giveUp(id, key)
        }
    }

    private func token(_ key: CacheKey) -> CacheClaimToken {
        CacheClaimToken { [weak self] in self?.release(key) }
    }

    /// Grants a claim that has ended to the caller that waits longest for it.
    private func release(_ key: CacheKey) {
        let next = state.withLock { state -> Waiter? in
            guard state.claims[key]?.isEmpty == false else {
                state.claims[key] = nil
                return nil
            }
            return state.claims[key]?.removeFirst()
        }
        next?.continuation.resume(returning: .granted(token(key)))
    }

    private func giveUp(_ id: Int, _ key: CacheKey) {
        let waiter = state.withLock { state -> Waiter? in
            guard let place = state.claims[key]?.firstIndex(where: { $0.id == id }) else { return nil }
            return state.claims[key]?.remove(at: place)
        }
        waiter?.continuation.resume(returning: .alone)
    }
}

extension MemoryCacheStore.State {
    fileprivate mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }
}
