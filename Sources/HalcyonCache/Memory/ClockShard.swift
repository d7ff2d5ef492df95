/// A sixteenth of a `MemoryCache`: slots that the clock's hand passes over, and a hash table that finds them. Beside them
/// the weak level, of what has left the slots; no key is in both.
///
/// Nothing here releases a key or a value: what leaves is returned, so that no destructor runs under the shard's
/// lock. Only a key's `==` does; it must not call the cache.
///
/// Inlinable throughout: specialised for the key and the value a read costs tens of nanoseconds, through their witness
/// tables the better part of a microsecond.
@usableFromInline
struct ClockShard<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
    @usableFromInline
    struct Removed {
        /// Nil where a successor or the weak level has it.
        @usableFromInline var key: Key?
        /// To be taken out before it is asked whether anything else keeps it.
        @usableFromInline var value: Value?
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

    /// A new entry is passed by once: its slot may lie right under the hand, and what has just been loaded must not be
    /// the first to go. One that has been read is passed by twice.
    @inlinable static var chancesWhenNew: Int8 { 1 }
    @inlinable static var chancesWhenRead: Int8 { 2 }

    /// First, on a line that only changes write when the slots grow.
    @usableFromInline var slots = Slots<Key, Value>(capacity: 8)
    @usableFromInline var freeSlots: [Int] = []
    @usableFromInline var hand = 0

    @usableFromInline var count = 0
    @usableFromInline var cost = 0
    /// Those that no lane has counted.
    @usableFromInline var hits = 0
    @usableFromInline var misses = 0
    @usableFromInline var evictions = 0
    @usableFromInline var weakHits = 0

    @usableFromInline var weak = WeakLevel<Key, Value>()
    @usableFromInline var keepsWeakly = false

    @inlinable
    init() {}

    // MARK: Reading

    /// The value, its time extended; nil without counting a miss. Several readers may be here at once.
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

    /// Whether there is a value in a slot, without counting, extending or saving anything.
    @inlinable
    func has(_ key: Key, hash: Int, now: Double) -> Bool {
        guard let position = slots.position(of: key, hash: hash) else { return false }
        return slots.marks[Int(slots.table[position]) - 1].expires > now
    }

    /// The cost of the entry with this key, expired or not; nil without one. The hand passes it by for now: room that is
    /// made for its successor is not to be made by evicting it.
    @inlinable
    func costOfFormer(_ key: Key, hash: Int) -> Int? {
        slots.position(of: key, hash: hash).map { costOfFormer(at: $0) }
    }

    /// - Parameter position: where it was found.
    @inlinable
    func costOfFormer(at position: Int) -> Int {
        let slot = Int(slots.table[position]) - 1
        slots.marks[slot].setChances(Self.chancesWhenRead)
        return slots.marks[slot].cost
    }

    // MARK: Changing

    /// Puts a value in place of the key's former one, which is returned.
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

    /// Puts a value in whose key has no slot.
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

    /// Moves the hand on to the next entry that must go, at most to the shard's end.
    ///
    /// - Returns: nil when the end was reached, from where the hand goes on in the next shard.
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

    /// Takes out what is past its time, a few entries at once, so that readers do not wait for all.
    ///
    /// - Parameter slot: where to begin, and then where to go on.
    /// - Returns: nothing when the end was reached.
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

    /// Begins anew, but for what was counted; returns what was there, to be released.
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
        // Taken, not copied: counting the references up and down again costs more than all the rest.
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
