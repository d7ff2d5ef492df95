import Glibc

/// One of the 16 parts of a `MemoryCache`: slots that the clock's hand passes over, and a hash table that finds them.
///
/// Two locks guard it: its own (`CacheShards`) and that of the cache's `MemoryCacheState`. A thread that holds either may read keys,
/// table and costs; only a thread that holds both changes them. Chances, expirations and hits are read and written under the
/// shard's own lock.
///
/// No method releases a key or a value: removed entries are returned, so that no deinitializer runs under a lock. The only
/// foreign code that runs under it is a key's `==`, which must not call the cache.
///
/// The memory is allocated by hand rather than in arrays, so that a search reads keys in place, without a retain and a release.
/// The table is not a `Dictionary`, so that a key is hashed once to select the shard and to find the slot.
@usableFromInline
struct CacheShard<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
    /// An entry that has been taken out of its slot.
    @usableFromInline
    struct Removed {
        @usableFromInline let key: Key
        @usableFromInline var value: Value
        @usableFromInline let mark: EntryMark

        @inlinable
        init(key: Key, value: Value, mark: EntryMark) { (self.key, self.value, self.mark) = (key, value, mark) }
    }

    /// First, beside the shard's lock, on the cache line that every reader writes anyway.
    @usableFromInline var hits = 0
    @usableFromInline var marks: UnsafeMutablePointer<EntryMark>
    /// Initialised, like the values, if the slot's mark has chances other than `EntryMark.free`.
    @usableFromInline var keys: UnsafeMutablePointer<Key>
    @usableFromInline var values: UnsafeMutablePointer<Value>
    /// Open addressing with linear probing, at most half full: slot + 1, or 0 if empty.
    @usableFromInline var table: UnsafeMutablePointer<Int32>
    /// The number of positions in the table minus one; there are half as many slots.
    @usableFromInline var tableMask: Int
    /// The number of slots that have ever been used.
    @usableFromInline var used = 0
    @usableFromInline var freeSlots: [Int] = []
    /// The slot that the clock's hand looks at next.
    @usableFromInline var hand = 0

    @inlinable var isEmpty: Bool { freeSlots.count == used }

    @inlinable
    init() {
        let capacity = 8
        marks = .allocate(capacity: capacity)
        keys = .allocate(capacity: capacity)
        values = .allocate(capacity: capacity)
        table = .allocate(capacity: capacity * 2)
        table.initialize(repeating: 0, count: capacity * 2)
        tableMask = capacity * 2 - 1
    }

    @inlinable
    deinit {
        for slot in 0..<used where marks[slot].chances != EntryMark.free {
            (keys + slot).deinitialize(count: 1)
            (values + slot).deinitialize(count: 1)
        }
        marks.deallocate()
        keys.deallocate()
        values.deallocate()
        table.deallocate()
    }

    // MARK: Reading

    /// Returns the value, extends its expiration and gives it its chances again; nil without counting a miss.
    @inlinable
    @inline(__always)
    mutating func read(_ key: Key, hash: Int, now: Double, extending: ExpirationExtension) -> Value? {
        guard let slot = slot(of: key, hash: hash), marks[slot].expires > now else { return nil }
        hits += 1
        // Written only if they change: a cache line that one processor writes is slow to read for the next.
        if marks[slot].chances != EntryMark.chancesWhenRead { marks[slot].chances = EntryMark.chancesWhenRead }
        if let lifetime = extending.lifetime(own: marks[slot].lifetime), now + lifetime > marks[slot].expires {
            marks[slot].expires = now + lifetime
        }
        return values[slot]
    }

    /// Returns whether there is a current value, without counting, extending, or giving it another chance.
    @inlinable
    func has(_ key: Key, hash: Int, now: Double) -> Bool {
        slot(of: key, hash: hash).map { marks[$0].expires > now } ?? false
    }

    /// The keys of all entries, expired or not.
    var allKeys: [Key] {
        (0..<used).filter { marks[$0].chances != EntryMark.free }.map { keys[$0] }
    }

    // MARK: Changing

    /// Inserts a value whose key has no slot.
    @inlinable
    mutating func append(_ value: Value, for key: Key, mark: EntryMark) {
        var slot = used
        if let free = freeSlots.popLast() {
            slot = free
        } else {
            if used == (tableMask + 1) / 2 { grow() }
            used += 1
        }
        (marks + slot).initialize(to: mark)
        (keys + slot).initialize(to: key)
        (values + slot).initialize(to: value)
        link(slot)
    }

    /// Replaces the value of a slot, and returns the former one. The key stays.
    @inlinable
    mutating func replace(_ slot: Int, by value: Value, mark: EntryMark) -> Value {
        let former = (values + slot).move()
        (values + slot).initialize(to: value)
        marks[slot] = mark
        return former
    }

    @inlinable
    mutating func remove(_ slot: Int) -> Removed {
        unlink(slot)
        // Moved, not copied: a retain and a release cost more than all the rest.
        let removed = Removed(key: (keys + slot).move(), value: (values + slot).move(), mark: marks[slot])
        marks[slot].chances = EntryMark.free
        freeSlots.append(slot)
        return removed
    }

    /// Moves the hand to the next entry that must go, at most to the shard's end.
    ///
    /// - Returns: nil if the end was reached, after which the hand continues in the next shard.
    @inlinable
    mutating func advanceHand(now: Double) -> Removed? {
        while hand < used {
            let slot = hand
            hand += 1
            guard marks[slot].chances != EntryMark.free else { continue }
            guard marks[slot].chances > 0, marks[slot].expires > now else { return remove(slot) }
            marks[slot].chances -= 1
        }
        hand = 0
        return nil
    }

    /// Removes expired entries, a few at once, so that readers do not wait for all of them.
    ///
    /// - Parameter slot: the slot to begin at, updated to the slot to continue at.
    /// - Returns: an empty array if the end was reached.
    @inlinable
    mutating func removeExpired(from slot: inout Int, now: Double) -> [Removed] {
        var removed: [Removed] = []
        while slot < used, removed.count < 32 {
            if marks[slot].chances != EntryMark.free, marks[slot].expires <= now { removed.append(remove(slot)) }
            slot += 1
        }
        return removed
    }

    /// Gives a new time to live to the entries that have the cache's.
    mutating func rebase(to lifetime: Double, now: Double) {
        for slot in 0..<used where marks[slot].chances != EntryMark.free {
            marks[slot] = marks[slot].rebased(to: lifetime, now: now)
        }
    }

    /// Doubles the memory and rebuilds the table. All slots are in use.
    @inlinable
    mutating func grow() {
        let capacity = used * 2
        Self.move(&marks, count: used, toCapacity: capacity)
        Self.move(&keys, count: used, toCapacity: capacity)
        Self.move(&values, count: used, toCapacity: capacity)
        table.deallocate()
        table = .allocate(capacity: capacity * 2)
        table.initialize(repeating: 0, count: capacity * 2)
        tableMask = capacity * 2 - 1
        for slot in 0..<used { link(slot) }
    }

    @inlinable
    static func move<Element>(_ memory: inout UnsafeMutablePointer<Element>, count: Int, toCapacity capacity: Int) {
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        larger.moveInitialize(from: memory, count: count)
        memory.deallocate()
        memory = larger
    }

    // MARK: The table

    @inlinable
    func home(of hash: Int) -> Int {
        // The lowest bits have already selected the shard.
        Int(truncatingIfNeeded: UInt(bitPattern: hash) >> 8) & tableMask
    }

    @inlinable
    func slot(of key: Key, hash: Int) -> Int? {
        var position = home(of: hash)
        while table[position] != 0 {
            let slot = Int(table[position]) - 1
            if marks[slot].hash == hash, keys[slot] == key { return slot }
            position = (position + 1) & tableMask
        }
        return nil
    }

    @inlinable
    func link(_ slot: Int) {
        var position = home(of: marks[slot].hash)
        while table[position] != 0 { position = (position + 1) & tableMask }
        table[position] = Int32(truncatingIfNeeded: slot + 1)
    }

    /// Removes a slot from the table, and moves later entries of the same run up, so that no search stops at the gap before
    /// it finds them.
    @inlinable
    func unlink(_ slot: Int) {
        var gap = home(of: marks[slot].hash)
        while Int(table[gap]) != slot + 1 { gap = (gap + 1) & tableMask }
        var position = gap
        while true {
            position = (position + 1) & tableMask
            guard table[position] != 0 else { break }
            let home = home(of: marks[Int(table[position]) - 1].hash)
            // If its home lies cyclically in (gap, position], it must stay behind the gap.
            if (position - home) & tableMask < (position - gap) & tableMask { continue }
            table[gap] = table[position]
            gap = position
        }
        table[gap] = 0
    }
}

/// The data of an entry that the search and the hand need, apart from keys and values so that they touch little memory.
@usableFromInline
struct EntryMark: Sendable {
    @usableFromInline let hash: Int
    @usableFromInline let cost: Int
    /// The seconds by which an access extends the entry; infinity for never expiring.
    @usableFromInline var lifetime: Double
    /// The time at which the entry expires, in seconds of the cache's clock.
    @usableFromInline var expires: Double
    /// The number of times the hand will still pass the entry by; `free` marks a slot without an entry.
    @usableFromInline var chances: Int8
    /// Whether the expiration is the entry's own, not the cache's. It then ends the entry in the weak level too.
    @usableFromInline let hasOwnTime: Bool

    /// The hand passes a new entry by once: its slot may lie right under the hand, and an entry that has just been loaded
    /// must not be the first to go. An entry that has been read is passed by twice. One that is about to get another value outlasts
    /// all others.
    @inlinable static var chancesWhenNew: Int8 { 1 }
    @inlinable static var chancesWhenRead: Int8 { 2 }
    @inlinable static var chancesWhenReplaced: Int8 { 3 }
    @inlinable static var free: Int8 { -1 }

    @inlinable
    init(hash: Int, cost: Int, lifetime: Double, expires: Double, chances: Int8, hasOwnTime: Bool) {
        self.hash = hash
        self.cost = cost
        self.lifetime = lifetime
        self.expires = expires
        self.chances = chances
        self.hasOwnTime = hasOwnTime
    }

    @inlinable
    func hasEnded(at now: Double) -> Bool { hasOwnTime && expires <= now }

    /// Returns the mark under another time to live of the cache, counted from the last access that extended the entry. An
    /// entry that was to stay forever has no record of that: for it, the time begins now.
    @inlinable
    func rebased(to time: Double, now: Double) -> EntryMark {
        guard !hasOwnTime, lifetime != time else { return self }
        let start = lifetime.isFinite ? min(expires - lifetime, now) : now
        var mark = self
        (mark.lifetime, mark.expires) = (time, start + time)
        return mark
    }
}

/// The shards of a `MemoryCache`, each behind a plain mutex, and with it on cache lines of their own.
///
/// Not an array of `Lock`s: reaching a shard through one costs a retain and a release, which all threads would do on the
/// same few counters, and an exclusivity check that the lock makes unnecessary.
///
/// `@unchecked Sendable` because a shard is only accessed under the locks that `CacheShard` names.
@usableFromInline
struct CacheShards<Key: Hashable & Sendable, Value: Sendable>: ~Copyable, @unchecked Sendable {
    @usableFromInline let base: UnsafeMutableRawPointer
    @usableFromInline let stride: Int
    @usableFromInline let mask: Int
    @inlinable var count: Int { mask + 1 }

    /// The bytes from a mutex to its shard.
    @inlinable static var offset: Int { MemoryLayout<pthread_mutex_t>.stride }

    /// Creates empty shards.
    ///
    /// - Parameter count: a power of two.
    init(count: Int) {
        precondition(count > 0 && count & (count - 1) == 0, "not a power of two")
        mask = count - 1
        // Processors fetch lines of 64 bytes in pairs.
        stride = (Self.offset + MemoryLayout<CacheShard<Key, Value>>.size + 127) & ~127
        base = .allocate(byteCount: stride * count, alignment: 128)
        // A lock is held for less time than falling asleep takes, so a thread that finds it taken spins a little first.
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        defer { pthread_mutexattr_destroy(&attributes) }
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        for index in 0..<count {
            pthread_mutex_init(mutex(index), &attributes)
            shard(index).initialize(to: CacheShard())
        }
    }

    deinit {
        for index in 0...mask {
            pthread_mutex_destroy(mutex(index))
            shard(index).deinitialize(count: 1)
        }
        base.deallocate()
    }

    @inlinable
    func mutex(_ index: Int) -> UnsafeMutablePointer<pthread_mutex_t> {
        (base + stride * (index & mask)).assumingMemoryBound(to: pthread_mutex_t.self)
    }

    /// The shard that an index or a hash selects.
    @inlinable
    func shard(_ index: Int) -> UnsafeMutablePointer<CacheShard<Key, Value>> {
        (base + stride * (index & mask) + Self.offset).assumingMemoryBound(to: CacheShard<Key, Value>.self)
    }

    /// Runs `body` with the shard that an index or a hash selects, under its lock. Never call foreign code or wait inside
    /// `body`.
    @inlinable
    @inline(__always)
    func withLock<Result: ~Copyable>(_ index: Int, _ body: (inout CacheShard<Key, Value>) -> Result) -> Result {
        let mutex = mutex(index)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&shard(index).pointee)
    }
}
