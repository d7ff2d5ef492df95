import Foundation
import HalcyonSystem
import Synchronization

/// Values in memory, within a limit of cost and count, and for a time.
///
/// What has not been read for a full turn of the clock's hand goes first (CLOCK, second chance). A read is synchronous,
/// takes one short lock, that of the processor it runs on, and allocates nothing. All methods may be called from any
/// thread.
///
/// With `weakly` there is a second level that keeps nothing alive: what the limits, a trim or the time to live have taken
/// out is found again for as long as anything else keeps it, and comes back then. What was removed or replaced, and what
/// has outlived an expiration of its own, is gone from both.
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
    /// Begins with the first insert, so that a cache nobody uses costs no timer.
    private let sweep = Lock<RepeatingWork?>(nil)
    @usableFromInline let sweeps: Atomic<Bool>

    /// - Parameters:
    ///   - timeSource: nil reads the system's clock, in steps of a few milliseconds.
    ///   - weakly: makes a weak reference of a value that leaves the cache, on the thread that makes it leave and never
    ///     under a lock; nil for a value that cannot be held weakly. Without it, the default, there is no weak level.
    public convenience init(
        configuration: MemoryCacheConfiguration = MemoryCacheConfiguration(), timeSource: TimeSource? = nil,
        weakly: (@Sendable (Value) -> WeakValue<Value>?)? = nil
    ) {
        self.init(configuration: configuration, timeSource: timeSource, shardCount: 16, weakly: weakly)
    }

    /// - Parameters:
    ///   - shardCount: a power of two.
    ///   - laneCount: a power of two; nil fits the number of processors.
    package init(
        configuration: MemoryCacheConfiguration, timeSource: TimeSource?, shardCount: Int, laneCount: Int? = nil,
        weakly: (@Sendable (Value) -> WeakValue<Value>?)? = nil
    ) {
        self.configuration = configuration
        self.weakly = weakly
        self.timeSource = timeSource ?? .system
        clock = CacheClock(timeSource)
        // Far from where the sum of what several threads reserve at once would overflow.
        let costLimit = min(max(0, configuration.costLimit), .max / 64)
        budget = CacheBudget(costLimit: costLimit, countLimit: max(0, configuration.countLimit ?? .max))
        entryCostLimit = min(configuration.entryCostLimit ?? costLimit / 2, costLimit)
        lifetime = configuration.timeToLive?.inSeconds ?? .infinity
        shards = ShardTable(count: shardCount, lanes: laneCount ?? LaneLock.laneCount)
        sweeps = Atomic(configuration.sweepInterval == nil)
        guard weakly != nil else { return }
        for index in 0..<shardCount { shards.withLock(index) { $0.keepsWeakly = true } }
    }

    /// The value for a key, nil without one or past its time.
    ///
    /// - Parameter extending: what the access does to the time the entry is kept.
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

    /// Whether there is a value. Asking neither extends its time nor saves it from eviction.
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
        let now = clock.now()
        let lifetime = expiration.map { $0.lifetime(from: Date(timeIntervalSince1970: now)) } ?? lifetime
        let hash = key.hashValue
        guard cost <= entryCostLimit, budget.countLimit > 0, lifetime > 0 else {
            // A former value under this key is no longer the right one.
            if lifetime > 0 { remove(key) }
            return false
        }
        if !sweeps.load(ordering: .relaxed) { beginSweeping() }
        // A thread may find everything evicted and still no room, because other inserts hold reservations. These become
        // entries that can be evicted, so it lets them; a hundred times is for ever.
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

    /// One attempt at an insert: reserves what the entry costs more than the key's former one, makes room, puts it in.
    @inlinable
    func reserveAndInsert(_ value: Value, for key: Key, mark: EntryMark, now: Double) -> Bool {
        let hash = mark.hash
        var room = (cost: 0, count: 0)
        // As long as there is room for a new entry beside a former one, one visit to the shard is enough.
        if budget.reserveIfThereIsRoom(cost: mark.cost) {
            room = (mark.cost, 1)
        } else {
            let former = shards.withLane(hash) { shard, _ in shard.pointee.costOfFormer(key, hash: hash) }
            let missing = (cost: mark.cost - (former ?? 0), count: former == nil ? 1 : 0)
            guard take(missing, into: &room, now: now) else { return false }
        }
        while true {
            var missing = (cost: 0, count: 0)
            // Released when this iteration ends, and so outside the lock.
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

    /// Adds what is missing to the room that an insert has, evicting what must go for it.
    ///
    /// - Returns: whether there was as much; if not, the insert has no room at all any more.
    @inlinable
    func take(_ missing: (cost: Int, count: Int), into room: inout (cost: Int, count: Int), now: Double) -> Bool {
        var missing = missing
        // The room of one that goes passes straight to the new one: the rule in a full cache, and less to reckon.
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

    /// Removes the value for a key, and returns it.
    @discardableResult
    @inlinable
    public func remove(_ key: Key) -> Value? {
        let hash = key.hashValue
        let (removed, weak) = shards.withLock(hash) { ($0.remove(key, hash: hash), $0.weak.remove(key, hash: hash)) }
        guard let removed else { return weak?.entry.value }
        budget.release(cost: removed.cost, count: 1)
        return removed.value
    }

    /// Removes everything.
    public func removeAll() {
        for index in 0..<shards.count {
            let removed = shards.withLock(index) { $0.empty() }
            budget.release(cost: removed.cost, count: removed.count)
        }
    }

    /// Removes what is past its time. Costs a few nanoseconds an entry.
    ///
    /// The configuration's `sweepInterval` has it done again and again.
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

    /// What the cache holds and how it has fared.
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

    /// Moves the hand on, evicting, until there is room or nothing left to evict.
    @inlinable
    func makeRoom(now: Double, until hasRoom: () -> Bool) -> Bool {
        while !hasRoom() {
            guard var removed = evictNext(now: now) else { return false }
            letGo(&removed)
        }
        return true
    }

    /// Moves the hand on to the next entry that goes; nil when there is none.
    @inlinable
    func evictNext(now: Double) -> ClockShard<Key, Value>.Removed? {
        // After three turns every entry has used up its chances; the fourth finds whether there is any.
        for _ in 0..<shards.count * 4 {
            let current = hand.shard
            if let removed = shards.withLock(current, { $0.advanceHand(now: now) }) { return removed }
            hand.move(from: current)
        }
        return nil
    }

    /// Removes what is past its time every `sweepInterval` from now on.
    @usableFromInline
    func beginSweeping() {
        guard let interval = configuration.sweepInterval else { return }
        sweep.withLock { sweep in
            guard !sweeps.exchange(true, ordering: .relaxed) else { return }
            // Without a pause between two turns it would do nothing else; a timer counts no more than centuries.
            let interval = min(max(interval, .seconds(1)), .seconds(365 * 86_400))
            sweep = RepeatingWork(every: interval, timeSource: timeSource) { [weak self] in self?.removeExpired() }
        }
    }
}
