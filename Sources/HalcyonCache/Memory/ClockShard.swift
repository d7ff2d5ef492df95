/// A sixteenth of a `MemoryCache`: slots that the clock's hand passes over, and a hash table that finds them. Beside them
/// the weak level, of what has left the slots; no key is in both.
///
/// The table is our own rather than a `Dictionary` so that a key is hashed once for choosing the shard and finding the
/// slot. Nothing here releases a key or a value: what leaves is returned, so that no destructor runs under the shard's
/// lock. Only a key's `==` does; it must not call the cache.
///
/// Inlinable throughout: specialised for the key and the value a read costs tens of nanoseconds, through their witness
/// tables the better part of a microsecond.
@usableFromInline
struct ClockShard<Key: Hashable & Sendable, Value: Sendable> {
    @usableFromInline
    struct Removed {
        /// Nil where a successor has kept it.
        @usableFromInline let key: Key?
        @usableFromInline let value: Value?
        @usableFromInline let cost: Int
        @usableFromInline let hash: Int
        /// What the weak level has it under, to be given a weak reference; 0 where it is not there.
        @usableFromInline var ticket = 0

        @inlinable
        init(key: Key?, value: Value?, cost: Int, hash: Int) {
            self.key = key
            self.value = value
            self.cost = cost
            self.hash = hash
        }
    }

    /// What the search and the hand look at, apart from keys and values so that they touch little memory.
    @usableFromInline
    struct Mark {
        @usableFromInline var hash: Int
        @usableFromInline var cost: Int
        /// Seconds that an access keeps the entry for; infinity is for ever.
        @usableFromInline var lifetime: Double
        /// When the entry is over, in seconds of the cache's clock.
        @usableFromInline var expires: Double
        /// How often the hand still passes the entry by; `free` marks an empty slot.
        @usableFromInline var chances: Int8
        /// Whether the time is the entry's own, not the cache's.
        @usableFromInline var hasOwnTime: Bool

        @inlinable
        init(hash: Int, cost: Int, lifetime: Double, expires: Double, chances: Int8, hasOwnTime: Bool) {
            self.hash = hash
            self.cost = cost
            self.lifetime = lifetime
            self.expires = expires
            self.chances = chances
            self.hasOwnTime = hasOwnTime
        }
    }

    @inlinable static var free: Int8 { -1 }
    /// A new entry is passed by once: its slot may lie right under the hand, and what has just been loaded must not be
    /// the first to go. One that has been read is passed by twice.
    @inlinable static var chancesWhenNew: Int8 { 1 }
    @inlinable static var chancesWhenRead: Int8 { 2 }

    /// First, on the line of the mutex, which each read writes anyway.
    @usableFromInline var hits = 0
    @usableFromInline var marks: ContiguousArray<Mark> = []
    @usableFromInline var keys: ContiguousArray<Key?> = []
    @usableFromInline var values: ContiguousArray<Value?> = []
    @usableFromInline var freeSlots: [Int] = []
    /// Open addressing with linear probing, at most half full: slot + 1, or 0 for nothing.
    @usableFromInline var table = ContiguousArray<Int32>(repeating: 0, count: 16)
    @usableFromInline var hand = 0

    @usableFromInline var count = 0
    @usableFromInline var cost = 0
    @usableFromInline var misses = 0
    @usableFromInline var evictions = 0
    @usableFromInline var weakHits = 0

    @usableFromInline var weak: [HashedKey<Key>: WeakEntry<Value>] = [:]
    @usableFromInline var keepsWeakly = false
    /// Counts on for ever, so that no ticket is given twice.
    @usableFromInline var lastTicket = 0
    /// How many weak entries there are when those whose value has ended are looked for again.
    @usableFromInline var weakLimit = Self.leastWeakLimit

    @inlinable
    init() {}

    // MARK: Reading

    /// The value, its time extended; nil without counting a miss.
    @inlinable
    @inline(__always)
    mutating func read(_ key: Key, hash: Int, now: Double, extending: ExpirationExtension) -> Value? {
        guard let position = position(of: key, hash: hash) else { return nil }
        let slot = Int(table[position]) - 1
        guard marks[slot].expires > now else { return nil }
        hits += 1
        // Written only where they change: a line that one processor writes is slow to read for the next.
        if marks[slot].chances != Self.chancesWhenRead { marks[slot].chances = Self.chancesWhenRead }
        if let lifetime = extending.lifetime(own: marks[slot].lifetime), now + lifetime > marks[slot].expires {
            marks[slot].expires = now + lifetime
        }
        return values[slot]
    }

    /// The cost of the entry with this key, expired or not. The hand passes it by for now: room that is made for its
    /// successor is not to be made by evicting it.
    ///
    /// - Parameter position: where it was found.
    @inlinable
    mutating func costOfFormer(at position: Int) -> Int {
        let slot = Int(table[position]) - 1
        marks[slot].chances = Self.chancesWhenRead
        return marks[slot].cost
    }

    // MARK: Changing

    /// Puts a value in place of the key's former one, which is returned.
    @inlinable
    mutating func replace(at position: Int, by value: Value, mark: Mark) -> Removed {
        let slot = Int(table[position]) - 1
        let former = Removed(key: nil, value: values[slot], cost: marks[slot].cost, hash: mark.hash)
        cost += mark.cost - former.cost
        values[slot] = value
        marks[slot] = mark
        return former
    }

    /// Puts a value in whose key has no slot.
    @inlinable
    mutating func append(_ value: Value, for key: Key, mark: Mark) {
        cost += mark.cost
        count += 1
        if count * 2 > table.count { grow() }
        let slot: Int
        if let reused = freeSlots.popLast() {
            slot = reused
            marks[slot] = mark
            keys[slot] = key
            values[slot] = value
        } else {
            slot = marks.count
            marks.append(mark)
            keys.append(key)
            values.append(value)
        }
        link(slot, hash: mark.hash)
    }

    @inlinable
    mutating func remove(_ key: Key, hash: Int) -> Removed? {
        position(of: key, hash: hash).map { remove(at: $0) }
    }

    /// Moves the hand on to the next entry that must go, at most to the shard's end.
    ///
    /// - Returns: nil when the end was reached, from where the hand goes on in the next shard.
    @inlinable
    mutating func advanceHand(now: Double) -> Removed? {
        while hand < marks.count {
            let slot = hand
            hand += 1
            guard marks[slot].chances != Self.free else { continue }
            if marks[slot].chances > 0, marks[slot].expires > now {
                marks[slot].chances -= 1
                continue
            }
            if marks[slot].expires > now { evictions += 1 }
            return depart(at: position(ofSlot: slot), now: now)
        }
        hand = 0
        return nil
    }

    @inlinable
    mutating func removeExpired(now: Double) -> [Removed] {
        var removed: [Removed] = []
        for slot in marks.indices where marks[slot].chances != Self.free && marks[slot].expires <= now {
            removed.append(depart(at: position(ofSlot: slot), now: now))
        }
        return removed
    }

    /// An empty shard that goes on counting where this one stopped.
    @inlinable
    func emptied() -> Self {
        var fresh = Self()
        (fresh.hits, fresh.misses, fresh.evictions, fresh.weakHits) = (hits, misses, evictions, weakHits)
        (fresh.keepsWeakly, fresh.lastTicket) = (keepsWeakly, lastTicket)
        return fresh
    }

    // MARK: The table

    @inlinable
    func home(of hash: Int) -> Int {
        // The lowest bits have chosen the shard already.
        Int(truncatingIfNeeded: UInt(bitPattern: hash) >> 8) & (table.count - 1)
    }

    @inlinable
    func position(of key: Key, hash: Int) -> Int? {
        let mask = table.count - 1
        var position = home(of: hash)
        while table[position] != 0 {
            let slot = Int(table[position]) - 1
            if marks[slot].hash == hash, keys[slot] == key { return position }
            position = (position + 1) & mask
        }
        return nil
    }

    @inlinable
    func position(ofSlot slot: Int) -> Int {
        let mask = table.count - 1
        var position = home(of: marks[slot].hash)
        while Int(table[position]) != slot + 1 { position = (position + 1) & mask }
        return position
    }

    @inlinable
    mutating func link(_ slot: Int, hash: Int) {
        let mask = table.count - 1
        var position = home(of: hash)
        while table[position] != 0 { position = (position + 1) & mask }
        table[position] = Int32(truncatingIfNeeded: slot + 1)
    }

    @inlinable
    mutating func grow() {
        table = ContiguousArray(repeating: 0, count: table.count * 2)
        for slot in marks.indices where marks[slot].chances != Self.free {
            link(slot, hash: marks[slot].hash)
        }
    }

    @inlinable
    mutating func remove(at position: Int) -> Removed {
        let slot = Int(table[position]) - 1
        // Taken, not copied: counting the references up and down again costs more than all the rest.
        let removed = Removed(
            key: keys[slot].take(), value: values[slot].take(), cost: marks[slot].cost, hash: marks[slot].hash)
        closeGap(at: position)
        marks[slot].chances = Self.free
        freeSlots.append(slot)
        count -= 1
        cost -= removed.cost
        return removed
    }

    /// Moves later entries of the same run up, so that no search stops at the gap before it finds them.
    @inlinable
    mutating func closeGap(at start: Int) {
        let mask = table.count - 1
        var gap = start
        var position = start
        while true {
            position = (position + 1) & mask
            guard table[position] != 0 else { break }
            let home = home(of: marks[Int(table[position]) - 1].hash)
            // Does its home lie cyclically in (gap, position]? Then it must stay behind the gap.
            if (position - home) & mask < (position - gap) & mask { continue }
            table[gap] = table[position]
            gap = position
        }
        table[gap] = 0
    }
}
