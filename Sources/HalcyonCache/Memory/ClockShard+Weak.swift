/// The movement of entries between the slots and the weak level.
extension ClockShard {
    /// The result of a search for a key that has no current entry in the slots.
    @usableFromInline
    enum Finding {
        /// The slots do have a current entry: another thread has just inserted it.
        case value(Value)
        case present
        case nothing
        /// The weak entry had expired and has been removed.
        case over(WeakLevel<Key, Value>.Element)
        /// The entry in the slots had expired. It has been removed, or moved to the weak level.
        case past(Removed)
        case weak(WeakEntry<Value>)
    }

    // MARK: Reading

    /// Searches again for a key that `read` has not found, and counts the miss if it is certain.
    @inlinable
    mutating func find(_ key: Key, hash: Int, now: Double, extending: ExpirationExtension) -> Finding {
        if let value = read(key, hash: hash, now: now, extending: extending) {
            hits += 1
            return .value(value)
        }
        if let position = slots.position(of: key, hash: hash) {
            let removed = depart(at: position, now: now)
            if removed.ticket == 0 { misses += 1 }
            return .past(removed)
        }
        guard let entry = weak.entry(key, hash: hash) else {
            misses += 1
            return .nothing
        }
        guard entry.isOver(at: now), let element = weak.remove(key, hash: hash) else { return .weak(entry) }
        misses += 1
        return .over(element)
    }

    /// Searches without counting, extending, or giving the entry another chance.
    @inlinable
    mutating func peek(_ key: Key, hash: Int, now: Double) -> Finding {
        if let position = slots.position(of: key, hash: hash) {
            let slot = Int(slots.table[position]) - 1
            if slots.marks[slot].expires > now { return .present }
            // In its slot the entry keeps its value alive itself; only after it has departed can other owners be detected.
            return keepsWeakly && !slots.marks[slot].hasOwnTime ? .past(depart(at: position, now: now)) : .nothing
        }
        guard let entry = weak.entry(key, hash: hash), !entry.isOver(at: now) else { return .nothing }
        return .weak(entry)
    }

    /// Counts a read that has found a live value in the weak level, and extends its expiration.
    @inlinable
    mutating func noteWeakHit(_ key: Key, hash: Int, ticket: Int, expires: Double) {
        hits += 1
        weakHits += 1
        weak.extend(key, hash: hash, ticket: ticket, to: expires)
    }

    // MARK: Changing

    /// Takes an entry out of its slot and moves it to the weak level, if there is one and the entry's own expiration has
    /// not passed.
    @inlinable
    mutating func depart(at position: Int, now: Double) -> Removed {
        let slot = Int(slots.table[position]) - 1
        // The mark keeps these after its slot is freed.
        var removed = remove(at: position)
        let (lifetime, expires) = (slots.marks[slot].lifetime, slots.marks[slot].expires)
        let hasOwnTime = slots.marks[slot].hasOwnTime
        guard keepsWeakly, !(hasOwnTime && expires <= now), let key = removed.key.take(), let value = removed.value
        else { return removed }
        weak.lastTicket += 1
        removed.ticket = weak.lastTicket
        let entry = WeakEntry(
            held: .departing(value), ticket: removed.ticket, cost: removed.cost, lifetime: lifetime, expires: expires,
            hasOwnTime: hasOwnTime)
        weak.departing.append(WeakLevel.Element(HashedKey(key, hash: removed.hash), entry))
        return removed
    }

    /// Moves an entry back to a slot, if it has not changed since it was found.
    @inlinable
    mutating func putBack(
        _ value: Value, for key: Key, ticket: Int, mark: EntryMark
    ) -> WeakLevel<Key, Value>.Element? {
        guard let element = weak.remove(key, hash: mark.hash, ticket: ticket) else { return nil }
        append(value, for: key, mark: mark)
        return element
    }
}
