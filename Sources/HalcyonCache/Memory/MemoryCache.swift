import Foundation
import HalcyonSystem

/// Values in memory, within a limit of cost and count, and for a time.
///
/// What has not been read for a full turn of the clock's hand goes first (CLOCK, second chance). A read is synchronous,
/// takes one short lock out of sixteen and allocates nothing. All methods may be called from any thread.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    public let configuration: MemoryCacheConfiguration
    @usableFromInline let shards: [Lock<ClockShard<Key, Value>>]
    @usableFromInline let shardMask: Int
    @usableFromInline let budget: CacheBudget
    @usableFromInline let entryCostLimit: Int
    @usableFromInline let lifetime: Double
    @usableFromInline let clock: CacheClock
    @usableFromInline let hand = ClockHand()

    /// - Parameter timeSource: nil reads the system's clock, in steps of a few milliseconds.
    public convenience init(
        configuration: MemoryCacheConfiguration = MemoryCacheConfiguration(), timeSource: TimeSource? = nil
    ) {
        self.init(configuration: configuration, timeSource: timeSource, shardCount: 16)
    }

    /// - Parameter shardCount: a power of two.
    package init(configuration: MemoryCacheConfiguration, timeSource: TimeSource?, shardCount: Int) {
        precondition(shardCount > 0 && shardCount & (shardCount - 1) == 0, "not a power of two")
        self.configuration = configuration
        clock = CacheClock(timeSource)
        let costLimit = max(0, configuration.costLimit)
        budget = CacheBudget(costLimit: costLimit, countLimit: max(0, configuration.countLimit ?? .max))
        entryCostLimit = min(configuration.entryCostLimit ?? costLimit / 2, costLimit)
        lifetime = configuration.timeToLive?.inSeconds ?? .infinity
        shards = (0..<shardCount).map { _ in Lock(ClockShard()) }
        shardMask = shardCount - 1
    }

    /// The value for a key, nil without one or past its time.
    ///
    /// - Parameter extending: what the access does to the time the entry is kept.
    @inlinable
    public func value(for key: Key, extending: ExpirationExtension = .cacheTime) -> Value? {
        let hash = key.hashValue
        let now = clock.now()
        // Released when this function returns, and so outside the lock.
        var expired: ClockShard<Key, Value>.Removed?
        let value = shards[hash & shardMask].withLock {
            $0.read(key, hash: hash, now: now, extending: extending, expired: &expired)
        }
        if let expired { budget.release(cost: expired.cost, count: 1) }
        return value
    }

    /// Whether there is a value. Asking neither extends its time nor saves it from eviction.
    @inlinable
    public func contains(_ key: Key) -> Bool {
        let hash = key.hashValue
        let now = clock.now()
        return shards[hash & shardMask].withLock { $0.contains(key, hash: hash, now: now) }
    }

    /// Keeps a value, in place of the key's former one, and makes room for it.
    ///
    /// - Parameters:
    ///   - cost: what the value occupies, in bytes; below zero counts as zero.
    ///   - expiration: nil takes the configuration's `timeToLive`.
    /// - Returns: whether the value is kept: not when it is dearer than one entry may be, or expired already.
    @discardableResult
    @inlinable
    public func insert(
        _ value: Value, for key: Key, cost: Int = 0, expiration: StorageExpiration? = nil
    ) -> Bool {
        let cost = max(0, cost)
        let lifetime = expiration.map { $0.lifetime(from: Date(timeIntervalSince1970: clock.now())) } ?? lifetime
        let hash = key.hashValue
        guard cost <= entryCostLimit, budget.countLimit > 0, lifetime > 0 else {
            // A former value under this key is no longer the right one.
            if lifetime > 0 { remove(key) }
            return false
        }
        // A thread may find everything evicted and still no room, because other inserts hold reservations. These become
        // entries that can be evicted, so it lets them; a hundred times is for ever.
        for _ in 0..<100 {
            if reserveAndInsert(value, for: key, hash: hash, cost: cost, lifetime: lifetime) { return true }
            sched_yield()
        }
        return false
    }

    /// One attempt at an insert: reserves what the entry costs more than the key's former one, makes room, puts it in.
    @inlinable
    func reserveAndInsert(_ value: Value, for key: Key, hash: Int, cost: Int, lifetime: Double) -> Bool {
        // As long as there is room for a new entry beside a former one, one visit to the shard is enough.
        var reserved = (cost: cost, count: 1)
        budget.reserve(cost: reserved.cost, count: reserved.count)
        if !budget.isWithinLimits {
            budget.release(cost: reserved.cost, count: reserved.count)
            reserved = (0, 0)
        }
        while true {
            let now = clock.now()
            var missing = (cost: 0, count: 0)
            // Released when this iteration ends, and so outside the lock.
            var former: ClockShard<Key, Value>.Removed?
            let isDone = shards[hash & shardMask].withLock { shard in
                let formerCost = shard.costOfFormer(key, hash: hash)
                missing.cost = cost - (formerCost ?? 0) - reserved.cost
                missing.count = (formerCost == nil ? 1 : 0) - reserved.count
                guard missing.cost <= 0, missing.count <= 0 else { return false }
                former = shard.insert(value, for: key, hash: hash, cost: cost, lifetime: lifetime, now: now)
                return true
            }
            if isDone {
                budget.release(cost: -missing.cost, count: -missing.count)
                withExtendedLifetime(former) {}
                return true
            }
            missing = (max(0, missing.cost), max(0, missing.count))
            budget.reserve(cost: missing.cost, count: missing.count)
            reserved = (reserved.cost + missing.cost, reserved.count + missing.count)
            guard makeRoom(now: now, until: { budget.isWithinLimits }) else {
                budget.release(cost: reserved.cost, count: reserved.count)
                return false
            }
        }
    }

    /// Removes the value for a key, and returns it.
    @discardableResult
    @inlinable
    public func remove(_ key: Key) -> Value? {
        let hash = key.hashValue
        guard let removed = shards[hash & shardMask].withLock({ $0.remove(key, hash: hash) }) else { return nil }
        budget.release(cost: removed.cost, count: 1)
        return removed.value
    }

    /// Removes everything.
    public func removeAll() {
        for shard in shards {
            let removed = shard.withLock { shard in
                let former = shard
                shard = shard.emptied()
                return former
            }
            budget.release(cost: removed.cost, count: removed.count)
        }
    }

    /// Removes what is past its time. Costs a few nanoseconds an entry.
    public func removeExpired() {
        let now = clock.now()
        for shard in shards {
            for removed in shard.withLock({ $0.removeExpired(now: now) }) {
                budget.release(cost: removed.cost, count: 1)
            }
        }
    }

    /// Evicts until the entries cost at most this much together, in bytes; the limit stays as it is.
    public func trim(toCost target: Int) {
        _ = makeRoom(now: clock.now(), until: { budget.cost <= target })
    }

    /// What the cache holds and how it has fared.
    public var statistics: MemoryCacheStatistics {
        var sum = MemoryCacheStatistics()
        for shard in shards {
            shard.withLock {
                sum.hits += $0.hits
                sum.misses += $0.misses
                sum.evictions += $0.evictions
                sum.cost += $0.cost
                sum.count += $0.count
            }
        }
        return sum
    }

    /// Moves the hand on, evicting, until there is room or nothing left to evict.
    @inlinable
    func makeRoom(now: Double, until hasRoom: () -> Bool) -> Bool {
        // After three turns every entry has used up its chances; the fourth finds whether there is any.
        var shardsWithoutVictim = 0
        while !hasRoom() {
            guard shardsWithoutVictim < shards.count * 4 else { return false }
            let current = hand.shard
            if let removed = shards[current & shardMask].withLock({ $0.advanceHand(now: now) }) {
                budget.release(cost: removed.cost, count: 1)
                shardsWithoutVictim = 0
            } else {
                hand.move(from: current)
                shardsWithoutVictim += 1
            }
        }
        return true
    }
}
