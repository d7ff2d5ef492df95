import Foundation
import HalcyonSystem
import Synchronization

/// A cache of values in memory, with limits of cost, count and time.
///
/// Entries that have not been read for a full turn of the clock's hand are evicted first (CLOCK, second chance). A read is
/// synchronous, takes one short lock, that of the processor it runs on, and allocates nothing. All methods may be called
/// from any thread.
///
/// With `weakly` there is a second level that keeps no value alive: an entry that the limits, a trim or the time to live
/// have taken out is found again for as long as its value has other owners, and returns to the cache then. Entries that
/// were removed or replaced, and entries whose own expiration has passed, are gone from both levels.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    public let configuration: MemoryCacheConfiguration
    @usableFromInline let shards: ShardTable<Key, Value>
    @usableFromInline let budget: CacheBudget
    @usableFromInline let entryCostLimit: Int
    @usableFromInline let lifetime: Double
    @usableFromInline let clock: CacheClock
    @usableFromInline let hand = ClockHand()
    @usableFromInline let weakly: (@Sendable (Value) -> WeakValue<Value>?)?
    private let timeSource: TimeSource
    /// The timer of the sweeps. It is created by the first insert, so that an unused cache costs no timer.
    private let sweep = Lock<RepeatingWork?>(nil)
    @usableFromInline let sweeps: Atomic<Bool>

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - timeSource: the clock; nil reads the system's clock, in steps of a few milliseconds.
    ///   - weakly: makes a weak reference to a value that leaves the cache, on the thread that removes it and never under a
    ///     lock; returns nil for a value that cannot be held weakly. Without it, the default, there is no weak level.
    public convenience init(
        configuration: MemoryCacheConfiguration = MemoryCacheConfiguration(), timeSource: TimeSource? = nil,
        weakly: (@Sendable (Value) -> WeakValue<Value>?)? = nil
    ) {
        self.init(configuration: configuration, timeSource: timeSource, shardCount: 16, weakly: weakly)
    }

    /// Creates a cache with a number of shards.
    ///
    /// - Parameters:
    ///   - shardCount: the number of shards, a power of two.
    ///   - laneCount: the number of lanes a lock has, a power of two; nil derives it from the number of processors.
    package init(
        configuration: MemoryCacheConfiguration, timeSource: TimeSource?, shardCount: Int, laneCount: Int? = nil,
        weakly: (@Sendable (Value) -> WeakValue<Value>?)? = nil
    ) {
        self.configuration = configuration
        self.weakly = weakly
        self.timeSource = timeSource ?? .system
        clock = CacheClock(timeSource)
        // Far below a limit at which the sum of the reservations of several threads would overflow.
        let costLimit = min(max(0, configuration.costLimit), .max / 64)
        budget = CacheBudget(costLimit: costLimit, countLimit: max(0, configuration.countLimit ?? .max))
        entryCostLimit = min(configuration.entryCostLimit ?? costLimit / 2, costLimit)
        lifetime = configuration.timeToLive?.inSeconds ?? .infinity
        shards = ShardTable(count: shardCount, lanes: laneCount ?? PerCoreLock.laneCount)
        sweeps = Atomic(configuration.sweepInterval == nil)
        guard weakly != nil else { return }
        for index in 0..<shardCount { shards.withLock(index) { $0.keepsWeakly = true } }
    }

    /// Returns the value for a key; nil if there is none or it has expired.
    ///
    /// - Parameter extending: the effect of the access on the entry's expiration.
    @inlinable
    public func value(for key: Key, extending: ExpirationExtension = .cacheTime) -> Value? {
        let hash = key.hashValue
        let now = clock.now()
        let found = shards.withLane(hash) { shard, hits in
            let value = shard.pointee.read(key, hash: hash, now: now, extending: extending)
            if value != nil { hits += 1 }
            return value
        }
        if let found { return found }
        return valueElsewhere(for: key, hash: hash, now: now, extending: extending)
    }

    /// Returns whether there is a current value. This neither extends its expiration nor saves it from eviction.
    @inlinable
    public func contains(_ key: Key) -> Bool {
        let hash = key.hashValue
        let now = clock.now()
        if shards.withLane(hash, { shard, _ in shard.pointee.has(key, hash: hash, now: now) }) { return true }
        while true {
            switch shards.withLock(hash, { $0.peek(key, hash: hash, now: now) }) {
            case .value, .present: return true
            case .nothing, .over: return false
            case .past(var removed): letGo(&removed)
            case .weak(let entry): return entry.value != nil
            }
        }
    }

    /// Inserts a value, replacing the key's former one, and evicts others to make room for it.
    ///
    /// - Parameters:
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
        let lifetime = expiration.map { $0.lifetime(from: Date(timeIntervalSince1970: now)) } ?? lifetime
        let hash = key.hashValue
        guard cost <= entryCostLimit, budget.countLimit > 0, lifetime > 0 else {
            // The former value of this key is outdated.
            if lifetime > 0 { remove(key) }
            return false
        }
        if !sweeps.load(ordering: .relaxed) { beginSweeping() }
        // A thread may find everything evicted and still no room, because other inserts hold reservations. It yields, so
        // that these become entries that can be evicted; a hundred attempts are practically endless.
        let mark = EntryMark(
            hash: hash, cost: cost, lifetime: lifetime, expires: now + lifetime,
            chances: ClockShard<Key, Value>.chancesWhenNew, hasOwnTime: expiration != nil)
        for _ in 0..<100 {
            if reserveAndInsert(value, for: key, mark: mark, now: now) { return true }
            sched_yield()
        }
        remove(key)
        return false
    }

    /// Attempts an insert: reserves the cost beyond that of the key's former entry, makes room, and stores the value.
    @inlinable
    func reserveAndInsert(_ value: Value, for key: Key, mark: EntryMark, now: Double) -> Bool {
        let hash = mark.hash
        var room = (cost: 0, count: 0)
        // As long as there is room for a new entry beside the former one, one visit to the shard is enough.
        if budget.reserveIfThereIsRoom(cost: mark.cost) {
            room = (mark.cost, 1)
        } else {
            let former = shards.withLane(hash) { shard, _ in shard.pointee.costOfFormer(key, hash: hash) }
            let missing = (cost: mark.cost - (former ?? 0), count: former == nil ? 1 : 0)
            guard take(missing, into: &room, now: now) else { return false }
        }
        while true {
            var missing = (cost: 0, count: 0)
            // Released at the end of this iteration, and so outside the lock.
            var former: ClockShard<Key, Value>.Removed?
            var formerWeak: WeakLevel<Key, Value>.Element?
            let isDone = shards.withLock(hash) { shard in
                let position = shard.slots.position(of: key, hash: hash)
                missing.cost = mark.cost - (position.map { shard.costOfFormer(at: $0) } ?? 0) - room.cost
                missing.count = (position == nil ? 1 : 0) - room.count
                guard missing.cost <= 0, missing.count <= 0 else { return false }
                if let position {
                    former = shard.replace(at: position, by: value, mark: mark)
                } else {
                    formerWeak = shard.weak.remove(key, hash: hash)
                    shard.append(value, for: key, mark: mark)
                }
                return true
            }
            if isDone {
                budget.release(cost: -missing.cost, count: -missing.count)
                withExtendedLifetime((former, formerWeak)) {}
                return true
            }
            guard take(missing, into: &room, now: now) else { return false }
        }
    }

    /// Adds the missing cost and count to the room reserved for an insert, evicting entries for it.
    ///
    /// - Returns: false if there is not enough room; the insert then has no reservation any more.
    @inlinable
    func take(_ missing: (cost: Int, count: Int), into room: inout (cost: Int, count: Int), now: Double) -> Bool {
        var missing = missing
        // The reservation of an evicted entry passes straight to the new one: the usual case in a full cache, and cheaper.
        if missing.count > 0 {
            guard var removed = evictNext(now: now) else {
                budget.release(cost: room.cost, count: room.count)
                return false
            }
            room = (room.cost + removed.cost, room.count + 1)
            missing = (missing.cost - removed.cost, missing.count - 1)
            if removed.ticket != 0 { settle(&removed) }
        }
        missing = (max(0, missing.cost), max(0, missing.count))
        guard missing != (0, 0) else { return true }
        budget.reserve(cost: missing.cost, count: missing.count)
        room = (room.cost + missing.cost, room.count + missing.count)
        if makeRoom(now: now, until: { budget.isWithinLimits }) { return true }
        budget.release(cost: room.cost, count: room.count)
        return false
    }

    /// Removes the value for a key and returns it.
    @discardableResult
    @inlinable
    public func remove(_ key: Key) -> Value? {
        let hash = key.hashValue
        let (removed, weak) = shards.withLock(hash) { ($0.remove(key, hash: hash), $0.weak.remove(key, hash: hash)) }
        guard let removed else { return weak?.entry.value }
        budget.release(cost: removed.cost, count: 1)
        return removed.value
    }

    /// Removes all entries.
    public func removeAll() {
        for index in 0..<shards.count {
            let removed = shards.withLock(index) { $0.empty() }
            budget.release(cost: removed.cost, count: removed.count)
        }
    }

    /// Removes the expired entries. Costs a few nanoseconds an entry.
    ///
    /// The cache calls this itself at the configuration's `sweepInterval`.
    public func removeExpired() {
        let now = clock.now()
        for index in 0..<shards.count {
            var slot = 0
            while true {
                let removed = shards.withLock(index) { $0.removeExpired(from: &slot, now: now) }
                if removed.isEmpty { break }
                for var removed in removed { letGo(&removed) }
            }
            sweepWeak(index, now: now)
        }
    }

    /// The current contents of the cache and its counters.
    public var statistics: MemoryCacheStatistics {
        var sum = MemoryCacheStatistics()
        for index in 0..<shards.count {
            shards.withLock(index) {
                sum.hits += $0.hits + shards.lock(index).hits
                sum.weakHits += $0.weakHits
                sum.misses += $0.misses
                sum.evictions += $0.evictions
                sum.cost += $0.cost
                sum.count += $0.count
                sum.weakCount += $0.weak.count
            }
        }
        return sum
    }

    /// Moves the hand and evicts, until there is room or no entry is left.
    @inlinable
    func makeRoom(now: Double, until hasRoom: () -> Bool) -> Bool {
        while !hasRoom() {
            guard var removed = evictNext(now: now) else { return false }
            letGo(&removed)
        }
        return true
    }

    /// Moves the hand to the next entry to evict, and returns it; nil if there is none.
    @inlinable
    func evictNext(now: Double) -> ClockShard<Key, Value>.Removed? {
        // After three turns every entry has used up its chances; the fourth turn finds any that is left.
        for _ in 0..<shards.count * 4 {
            let current = hand.shard
            if let removed = shards.withLock(current, { $0.advanceHand(now: now) }) { return removed }
            hand.move(from: current)
        }
        return nil
    }

    /// Starts to remove the expired entries every `sweepInterval`.
    @usableFromInline
    func beginSweeping() {
        guard let interval = configuration.sweepInterval else { return }
        sweep.withLock { sweep in
            guard !sweeps.exchange(true, ordering: .relaxed) else { return }
            // At least a second, since without a pause between two sweeps the timer would do nothing else, and at most a
            // year, since a timer cannot count more than some centuries.
            let interval = min(max(interval, .seconds(1)), .seconds(365 * 86_400))
            sweep = RepeatingWork(every: interval, timeSource: timeSource) { [weak self] in self?.removeExpired() }
        }
    }
}

extension MemoryCache {
    /// Evicts entries until their total cost is at most `target`, in bytes. The limit does not change.
    public func trim(toCost target: Int) {
        _ = makeRoom(now: clock.now(), until: { budget.cost <= target })
    }

    /// Evicts entries until a fraction of the current cost and of the current count is left. The limits do not change.
    ///
    /// - Parameter fraction: 0 evicts everything; 1, more, and NaN evict nothing.
    public func trim(toFraction fraction: Double) {
        guard fraction < 1 else { return }
        let share = max(0, fraction)
        let (cost, count) = (Int(Double(budget.cost) * share), Int(Double(budget.count) * share))
        _ = makeRoom(now: clock.now(), until: { budget.cost <= cost && budget.count <= count })
    }

    /// Evicts entries under memory pressure: half of the cache stays on a warning, a tenth on high pressure, nothing on
    /// critical pressure. Values that have other owners can still be found in the weak level.
    public func relieve(_ pressure: MemoryPressure) {
        switch pressure {
        case .warning: trim(toFraction: 0.5)
        case .high: trim(toFraction: 0.1)
        case .critical: trim(toFraction: 0)
        }
    }
}

/// The contents of a `MemoryCache`, and its counters since it was created.
public struct MemoryCacheStatistics: Sendable, Hashable {
    /// The number of reads that found a value, in either level.
    public var hits = 0
    /// The number of hits that found the value in the weak level only.
    public var weakHits = 0
    /// The number of reads that found no entry, or only an expired one.
    public var misses = 0
    /// The number of entries that were evicted to make room. Expired and removed ones do not count.
    public var evictions = 0
    /// The total cost of the entries, in bytes.
    public var cost = 0
    /// The number of entries.
    public var count = 0
    /// The number of entries in the weak level. Entries whose value has ended count until they are swept: before they
    /// outnumber the live ones, or before there are 32 in each of the 16 shards.
    public var weakCount = 0

    public init() {}
}
