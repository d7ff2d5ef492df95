/// One of the 16 parts of a `MemoryCache`: slots that the clock's hand passes over, and a hash table that finds them.
/// Beside them is the weak level, for entries that have left the slots; no key is in both.
///
/// No method here releases a key or a value: removed entries are returned, so that no deinitializer runs under the shard's
/// lock. The only foreign code that runs under it is a key's `==`, which must not call the cache.
///
/// Everything is inlinable: specialised for the key and the value a read costs tens of nanoseconds, through their witness
/// tables the better part of a microsecond.
@usableFromInline
struct ClockShard<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
    @usableFromInline
    struct Removed {
        /// The key; nil if a successor or the weak level has it.
        @usableFromInline var key: Key?
        /// The value. It must be taken out before checking whether it has other owners.
        @usableFromInline var value: Value?
        @usableFromInline let cost: Int
        @usableFromInline let hash: Int
        /// The ticket of the entry in the weak level, where it gets a weak reference; 0 if it is not there.
        @usableFromInline var ticket = 0

        @inlinable
        init(key: Key?, value: Value?, cost: Int, hash: Int) {
            self.key = key
            self.value = value
            self.cost = cost
            self.hash = hash
        }
    }

    /// The hand passes a new entry by once: its slot may lie right under the hand, and an entry that has just been loaded
    /// must not be the first to go. An entry that has been read is passed by twice.
    @inlinable static var chancesWhenNew: Int8 { 1 }
    @inlinable static var chancesWhenRead: Int8 { 2 }

    /// First, on a cache line that is written only when the slots grow.
    @usableFromInline var slots = Slots<Key, Value>(capacity: 8)
    @usableFromInline var freeSlots: [Int] = []
    @usableFromInline var hand = 0

    @usableFromInline var count = 0
    @usableFromInline var cost = 0
    /// The hits that were counted under the exclusive lock, and so by no lane.
    @usableFromInline var hits = 0
    @usableFromInline var misses = 0
    @usableFromInline var evictions = 0
    @usableFromInline var weakHits = 0

    @usableFromInline var weak = WeakLevel<Key, Value>()
    @usableFromInline var keepsWeakly = false

    @inlinable
    init() {}

    // MARK: Reading

    /// Returns the value and extends its expiration; nil without counting a miss. Several readers may call this at once.
    @inlinable
    @inline(__always)
    func read(_ key: Key, hash: Int, now: Double, extending: ExpirationExtension) -> Value? {
        guard let position = slots.position(of: key, hash: hash) else { return nil }
        let slot = Int(slots.table[position]) - 1
        let expires = slots.marks[slot].expires
        guard expires > now else { return nil }
        slots.marks[slot].setChances(Self.chancesWhenRead)
        if let lifetime = extending.lifetime(own: slots.marks[slot].lifetime) {
            slots.marks[slot].extend(to: now + lifetime, from: expires)
        }
        return slots.values[slot]
    }

    /// Returns whether the slots have a current value, without counting, extending, or giving it another chance.
    @inlinable
    func has(_ key: Key, hash: Int, now: Double) -> Bool {
        guard let position = slots.position(of: key, hash: hash) else { return false }
        return slots.marks[Int(slots.table[position]) - 1].expires > now
    }

    /// Returns the cost of the entry with this key, expired or not; nil without one. Gives the entry its chances again:
    /// room for its successor must not be made by evicting it.
    @inlinable
    func costOfFormer(_ key: Key, hash: Int) -> Int? {
        slots.position(of: key, hash: hash).map { costOfFormer(at: $0) }
    }

    /// Returns the cost of the entry at a position of the table, and gives it its chances again.
    ///
    /// - Parameter position: the position that the search returned.
    @inlinable
    func costOfFormer(at position: Int) -> Int {
        let slot = Int(slots.table[position]) - 1
        slots.marks[slot].setChances(Self.chancesWhenRead)
        return slots.marks[slot].cost
    }

    // MARK: Changing

    /// Replaces the value of a key, and returns the former one.
    @inlinable
    mutating func replace(at position: Int, by value: Value, mark: EntryMark) -> Removed {
        let slot = Int(slots.table[position]) - 1
        let formerCost = slots.marks[slot].cost
        let former = Removed(key: nil, value: (slots.values + slot).move(), cost: formerCost, hash: mark.hash)
        (slots.values + slot).initialize(to: value)
        slots.marks[slot] = SlotMark(mark)
        cost += mark.cost - formerCost
        return former
    }

    /// Inserts a value whose key has no slot.
    @inlinable
    mutating func append(_ value: Value, for key: Key, mark: EntryMark) {
        cost += mark.cost
        count += 1
        if count > slots.capacity { slots.grow() }
        if let slot = freeSlots.popLast() {
            slots.reuse(slot, value, for: key, mark: mark)
            slots.link(slot)
        } else {
            slots.link(slots.add(value, for: key, mark: mark))
        }
    }

    @inlinable
    mutating func remove(_ key: Key, hash: Int) -> Removed? {
        slots.position(of: key, hash: hash).map { remove(at: $0) }
    }

    /// Moves the hand to the next entry that must go, at most to the shard's end.
    ///
    /// - Returns: nil if the end was reached, after which the hand continues in the next shard.
    @inlinable
    mutating func advanceHand(now: Double) -> Removed? {
        while hand < slots.used {
            let slot = hand
            hand += 1
            let chances = slots.marks[slot].chances
            guard chances != Slots<Key, Value>.free else { continue }
            let isOver = slots.marks[slot].expires <= now
            if chances > 0, !isOver {
                slots.marks[slot].setChances(chances - 1)
                continue
            }
            if !isOver { evictions += 1 }
            return depart(at: slots.position(ofSlot: slot), now: now)
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
        while slot < slots.used, removed.count < 32 {
            if slots.marks[slot].chances != Slots<Key, Value>.free, slots.marks[slot].expires <= now {
                removed.append(depart(at: slots.position(ofSlot: slot), now: now))
            }
            slot += 1
        }
        return removed
    }

    /// Empties the shard except for its statistics, and returns its former contents for the caller to release.
    @inlinable
    mutating func empty() -> Self {
        var fresh = Self()
        (fresh.hits, fresh.misses, fresh.evictions, fresh.weakHits) = (hits, misses, evictions, weakHits)
        (fresh.keepsWeakly, fresh.weak.lastTicket) = (keepsWeakly, weak.lastTicket)
        swap(&self, &fresh)
        return fresh
    }

    @inlinable
    mutating func remove(at position: Int) -> Removed {
        let slot = Int(slots.table[position]) - 1
        // Moved, not copied: a retain and a release cost more than all the rest.
        let removed = Removed(
            key: (slots.keys + slot).move(), value: (slots.values + slot).move(), cost: slots.marks[slot].cost,
            hash: slots.marks[slot].hash)
        slots.unlink(at: position)
        slots.marks[slot].setChances(Slots<Key, Value>.free)
        freeSlots.append(slot)
        count -= 1
        cost -= removed.cost
        return removed
    }
}
