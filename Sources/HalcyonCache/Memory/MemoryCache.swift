import Foundation
import HalcyonSystem
import Synchronization

/// A cache of values in memory, with limits of cost, count and time.
///
/// Entries that have not been read for a full turn of the clock's hand are evicted first (CLOCK, second chance). A read is
/// synchronous, takes one short lock, that of a sixteenth of the keys, and allocates nothing. All methods may be called from any
/// thread.
///
/// With `weakly` there is a second level that keeps no value alive: an entry that the limits, a trim or the time to live
/// have taken out is found again for as long as its value has other owners, and returns to the cache then. Entries that
/// were removed or replaced, and entries whose own expiration has passed, are gone from both levels.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// A closure that makes a weak reference to a value that leaves the cache. It returns nil for a value that cannot be held
    /// weakly, and should do so for one that has no other owner (`isKnownUniquelyReferenced`), which then costs nothing more.
    ///
    /// It is called under the cache's lock, and must neither call the cache nor change the value.
    public typealias WeakReference = @Sendable (_ value: inout Value) -> WeakValue<Value>?

    @usableFromInline typealias Shard = CacheShard<Key, Value>
    @usableFromInline typealias State = MemoryCacheState<Key, Value>
    @usableFromInline typealias Weak = WeakLevel<Key, Value>

    @usableFromInline let shards: CacheShards<Key, Value>
    /// Locked before a shard, never after it.
    @usableFromInline let state: Lock<State>
    /// The time to live in seconds, which an insert reads before it has a lock. Changed under the lock of the state.
    @usableFromInline let lifetime: Atomic<Double>
    @usableFromInline let clock: CacheClock
    @usableFromInline let weakly: WeakReference?
    let timeSource: TimeSource
    /// The timer of the sweeps. It is created by the first insert, so that an unused cache costs no timer.
    let sweep = Lock<RepeatingWork?>(nil)

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - configuration: the limits.
    ///   - timeSource: the clock; nil reads the system's clock, in steps of a few milliseconds.
    ///   - weakly: makes a weak reference to a value that leaves the cache. Without it, the default, there is no weak level.
    public convenience init(
        configuration: MemoryCacheConfiguration = MemoryCacheConfiguration(), timeSource: TimeSource? = nil,
        weakly: WeakReference? = nil
    ) {
        self.init(configuration: configuration, timeSource: timeSource, shardCount: 16, weakly: weakly)
    }

    /// Creates a cache with a number of shards.
    ///
    /// - Parameter shardCount: the number of shards, a power of two.
    init(
        configuration: MemoryCacheConfiguration, timeSource: TimeSource?, shardCount: Int,
        weakly: WeakReference? = nil
    ) {
        self.weakly = weakly
        self.timeSource = timeSource ?? .system
        clock = CacheClock(timeSource)
        lifetime = Atomic(configuration.lifetime)
        shards = CacheShards(count: shardCount)
        state = Lock(MemoryCacheState(configuration))
    }

    // MARK: Reading

    /// Returns the value for a key; nil if there is none or it has expired.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - extending: the effect of the access on the entry's expiration.
    @inlinable
    public func value(for key: Key, extending: ExpirationExtension = .cacheTime) -> Value? {
        value(for: key, extending: extending, countsMiss: true)
    }

    /// Returns the value for a key, of several that a caller looks up for one answer.
    ///
    /// - Parameter countsMiss: false for a caller that counts one miss for all of them, with `countMiss()`.
    @inlinable
    package func value(for key: Key, extending: ExpirationExtension, countsMiss: Bool) -> Value? {
        let hash = key.hashValue
        let now = clock.now()
        let found = shards.withLock(hash) { $0.read(key, hash: hash, now: now, extending: extending) }
        return found ?? valueElsewhere(for: key, hash: hash, now: now, extending: extending, countsMiss: countsMiss)
    }

    /// Counts a miss of look-ups that did not count theirs.
    package func countMiss() {
        state.withLock { $0.misses += 1 }
    }

    /// Returns whether there is a current value. This neither extends its expiration nor saves it from eviction.
    @inlinable
    public func contains(_ key: Key) -> Bool {
        let hash = key.hashValue
        let now = clock.now()
        if shards.withLock(hash, { $0.has(key, hash: hash, now: now) }) { return true }
        guard weakly != nil else { return false }
        let (isThere, entry): (Bool, Weak.Entry?)
        do {
            let found = state.withLock { state -> (isThere: Bool, entry: Weak.Entry?, gone: Shard.Removed?) in
                if shards.withLock(hash, { $0.has(key, hash: hash, now: now) }) { return (true, nil, nil) }
                // In its slot the entry keeps its value alive itself; only after it has left can other owners be detected.
                let gone = takeOutExpired(key, hash: hash, now: now, &state)
                return (false, state.weak.entries[key], gone)
            }
            (isThere, entry) = (found.isThere, found.entry)
        }
        guard let entry, !entry.mark.hasEnded(at: now) else { return isThere }
        return entry.reference.value != nil
    }

    /// Returns the value for a key that has no current entry in the slots.
    @inlinable
    @inline(never)
    func valueElsewhere(
        for key: Key, hash: Int, now: Double, extending: ExpirationExtension, countsMiss: Bool
    ) -> Value? {
        let entry: Weak.Entry?
        do {
            let found = state.withLock { state -> (value: Value?, entry: Weak.Entry?, gone: Shard.Removed?) in
                // Another thread may have just inserted it.
                let value = shards.withLock(hash) { $0.read(key, hash: hash, now: now, extending: extending) }
                if let value { return (value, nil, nil) }
                let gone = takeOutExpired(key, hash: hash, now: now, &state)
                let entry = state.weak.entries[key]
                if entry == nil, countsMiss { state.misses += 1 }
                return (nil, entry, gone)
            }
            if let value = found.value { return value }
            entry = found.entry
        }
        // An entry that has left its slot is released by now, so that a value without another owner is not found.
        return entry.flatMap {
            revive($0, for: key, hash: hash, now: now, extending: extending, countsMiss: countsMiss)
        }
    }

    /// Returns the value of a weak entry if it has not ended, and puts it back into a slot unless the key has another entry by
    /// then.
    @inlinable
    func revive(
        _ entry: Weak.Entry, for key: Key, hash: Int, now: Double, extending: ExpirationExtension, countsMiss: Bool
    ) -> Value? {
        guard !entry.mark.hasEnded(at: now), let value = entry.reference.value else {
            let dead = state.withLock { state in
                if countsMiss { state.misses += 1 }
                return state.weak.remove(key, known: entry.reference)
            }
            withExtendedLifetime(dead) {}
            return nil
        }
        // The time to live may have changed since the entry left its slot.
        let known = entry.mark.rebased(to: lifetime.load(ordering: .relaxed), now: now)
        var expires = known.expires
        if let lifetime = extending.lifetime(own: known.lifetime) { expires = max(expires, now + lifetime) }
        state.withLock { $0.weakHits += 1 }
        // An expired entry that the access does not extend would only be removed again.
        guard expires > now else { return value }
        let mark = EntryMark(
            hash: hash, cost: known.cost, lifetime: known.lifetime, expires: expires,
            chances: EntryMark.chancesWhenRead, hasOwnTime: known.hasOwnTime)
        put(value, for: key, mark: mark, now: now, insteadOf: entry.reference)
        return value
    }

    // MARK: Changing

    /// Inserts a value, replacing the key's former one, and evicts others to make room for it.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - key: the key.
    ///   - cost: the size of the value in bytes; negative counts as zero.
    ///   - expiration: nil takes the configuration's `timeToLive`.
    /// - Returns: whether the value was stored; false if its cost is above the limit of one entry, or if it has already
    ///   expired.
    @discardableResult
    @inlinable
    public func insert(
        _ value: Value, for key: Key, cost: Int = 0, expiration: StorageExpiration? = nil
    ) -> Bool {
        let cost = max(0, cost)
        let now = clock.now()
        let own = expiration.map { $0.lifetime(from: Date(timeIntervalSince1970: now)) }
        let lifetime = own ?? lifetime.load(ordering: .relaxed)
        guard lifetime > 0 else { return false }
        let mark = EntryMark(
            hash: key.hashValue, cost: cost, lifetime: lifetime, expires: now + lifetime,
            chances: EntryMark.chancesWhenNew, hasOwnTime: expiration != nil)
        let isStored = put(value, for: key, mark: mark, now: now, insteadOf: nil)
        // The former value of this key is outdated.
        if !isStored { remove(key) }
        return isStored
    }

    /// Puts a value into a slot, after as many evictions as its room takes.
    ///
    /// The limits hold at every moment, since there is no room before it was made. At most one entry is evicted each time the
    /// lock is taken, so that its value is released outside, and nobody waits for many.
    ///
    /// - Parameter known: the weak reference from which the value comes, in whose place alone it may be put; nil replaces any entry.
    /// - Returns: whether the value was stored; false also if it is above the limit of one entry.
    @discardableResult
    @inlinable
    func put(
        _ value: Value, for key: Key, mark: EntryMark, now: Double, insteadOf known: WeakValue<Value>?
    ) -> Bool {
        var (isDone, isStored) = (false, false)
        while !isDone {
            // Released at the end of each turn, and so outside the lock.
            var gone: Shard.Removed?
            var former: Value?
            var formerWeak: Weak.Element?
            var (isSweepDue, isFirst) = (false, false)
            state.withLock { state in
                let mark = mark.rebased(to: lifetime.load(ordering: .relaxed), now: now)
                // Asked each time that the lock is taken, since the limits may change in between, and what is above them would
                // wait for room without end.
                guard state.limits.admits(mark) else {
                    isDone = true
                    return
                }
                if let known, state.weak.entries[key]?.reference !== known {
                    isDone = true
                    return
                }
                // Changes of slots take both locks, so that one of them is enough for this look.
                let shard = shards.shard(mark.hash)
                var slot = shard.pointee.slot(of: key, hash: mark.hash)
                func hasRoom() -> Bool {
                    state.hasRoom(for: mark, insteadOf: slot.map { shard.pointee.marks[$0].cost })
                }
                if !hasRoom() {
                    // Room for the key's new value must not be made by evicting its former one.
                    if let slot {
                        shards.withLock(mark.hash) { $0.marks[slot].chances = EntryMark.chancesWhenReplaced }
                    }
                    gone = evictNext(now: now, &state)
                    // The former one may have gone all the same, if it had expired.
                    slot = shard.pointee.slot(of: key, hash: mark.hash)
                    guard hasRoom() else { return }
                }
                formerWeak = state.weak.remove(key)
                state.cost += mark.cost - (slot.map { shard.pointee.marks[$0].cost } ?? 0)
                state.count += slot == nil ? 1 : 0
                shards.withLock(mark.hash) { shard in
                    if let slot {
                        former = shard.replace(slot, by: value, mark: mark)
                    } else {
                        shard.append(value, for: key, mark: mark)
                    }
                }
                isSweepDue = state.weak.isSweepDue
                (isFirst, state.sweeps) = (!state.sweeps, true)
                (isDone, isStored) = (true, true)
            }
            withExtendedLifetime((gone, former, formerWeak)) {}
            if isSweepDue { sweepWeak(now: now) }
            if isFirst { beginSweeping() }
        }
        return isStored
    }

    /// Removes the value for a key and returns it.
    @discardableResult
    @inlinable
    public func remove(_ key: Key) -> Value? {
        let hash = key.hashValue
        let (removed, weak) = state.withLock { state in
            (takeOut(key, hash: hash, &state), state.weak.remove(key))
        }
        return removed?.value ?? weak?.value.reference.value
    }

    /// Removes all entries.
    public func removeAll() {
        let former = CacheShards<Key, Value>(count: shards.count)
        let weak = state.withLock { state in
            for index in 0..<shards.count {
                shards.withLock(index) { shard in
                    swap(&shard, &former.shard(index).pointee)
                    shard.hits = former.shard(index).pointee.hits
                }
            }
            (state.cost, state.count) = (0, 0)
            let weak = state.weak
            state.weak = WeakLevel()
            return weak
        }
        withExtendedLifetime(weak) {}
    }

    /// Removes the expired entries. Costs a few nanoseconds an entry.
    ///
    /// The cache calls this itself at the configuration's `sweepInterval`.
    public func removeExpired() {
        let now = clock.now()
        for index in 0..<shards.count {
            var slot = 0
            var isDone = false
            while !isDone {
                let removed = state.withLock { state in
                    var removed = shards.withLock(index) { $0.removeExpired(from: &slot, now: now) }
                    for index in removed.indices {
                        state.subtract(removed[index].mark)
                        depart(&removed[index], now: now, &state)
                    }
                    return removed
                }
                isDone = removed.isEmpty
            }
        }
        sweepWeak(now: now)
    }

    /// The current contents of the cache and its counters.
    public var statistics: MemoryCacheStatistics {
        state.withLock { state in
            var sum = MemoryCacheStatistics()
            sum.hits = state.weakHits
            for index in 0..<shards.count { sum.hits += shards.withLock(index) { $0.hits } }
            (sum.weakHits, sum.misses, sum.evictions) = (state.weakHits, state.misses, state.evictions)
            (sum.cost, sum.count, sum.weakCount) = (state.cost, state.count, state.weak.entries.count)
            return sum
        }
    }

    /// The keys of all entries, in both levels, expired or not.
    package var keys: [Key] {
        state.withLock { state in
            var keys = Array(state.weak.entries.keys)
            for index in 0..<shards.count { keys += shards.withLock(index) { $0.allKeys } }
            return keys
        }
    }
}
