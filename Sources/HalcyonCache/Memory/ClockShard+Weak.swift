/// Between the slots and the weak level.
extension ClockShard {
    /// What there is for a key that has no living entry in the slots.
    @usableFromInline
    enum Finding {
        /// There is one after all: somebody has just put it in.
        case value(Value)
        case present
        case nothing
        /// The time of the weak entry was over; it is out.
        case over(WeakLevel<Key, Value>.Element)
        /// The time of the entry in the slots was over; it is out, or in the weak level.
        case past(Removed)
        case weak(WeakEntry<Value>)
    }

    // MARK: Reading

    /// Looks again for a key that `read` has not found, and counts the miss if it is certain.
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

    /// Looks without counting, extending or saving anything.
    @inlinable
    mutating func peek(_ key: Key, hash: Int, now: Double) -> Finding {
        if let position = slots.position(of: key, hash: hash) {
            let slot = Int(slots.table[position]) - 1
            if slots.marks[slot].expires > now { return .present }
            // Here it keeps its value itself; whether anything else does is seen once it has left.
            return keepsWeakly && !slots.marks[slot].hasOwnTime ? .past(depart(at: position, now: now)) : .nothing
        }
        guard let entry = weak.entry(key, hash: hash), !entry.isOver(at: now) else { return .nothing }
        return .weak(entry)
    }

    /// Counts a read that has found a living value, and extends its time.
    @inlinable
    mutating func noteWeakHit(_ key: Key, hash: Int, ticket: Int, expires: Double) {
        hits += 1
        weakHits += 1
        weak.extend(key, hash: hash, ticket: ticket, to: expires)
    }

    // MARK: Changing

    /// Takes an entry out of its slot and, where that is kept and its own time is not over, into the weak level.
    @inlinable
    mutating func depart(at position: Int, now: Double) -> Removed {
        let slot = Int(slots.table[position]) - 1
        // They stay in the mark when its slot is free.
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

    /// Moves an entry back to a slot, if nothing has changed since it was found.
    @inlinable
    mutating func putBack(
        _ value: Value, for key: Key, ticket: Int, mark: EntryMark
    ) -> WeakLevel<Key, Value>.Element? {
        guard let element = weak.remove(key, hash: mark.hash, ticket: ticket) else { return nil }
        append(value, for: key, mark: mark)
        return element
    }
}
