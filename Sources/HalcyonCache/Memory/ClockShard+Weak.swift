/// The weak level. As in the slots, nothing is released here: what leaves is returned, key and all.
extension ClockShard {
    @usableFromInline typealias WeakElement = (key: HashedKey<Key>, value: WeakEntry<Value>)

    /// What there is for a key that has no living entry in the slots.
    @usableFromInline
    enum Finding {
        /// There is one after all: somebody has just put it in.
        case value(Value)
        case present
        case nothing
        /// The time of the weak entry was over; it is out.
        case over(WeakElement)
        /// The time of the entry in the slots was over; it is out, or in the weak level.
        case past(Removed)
        case weak(WeakEntry<Value>)
    }

    @inlinable static var leastWeakLimit: Int { 32 }

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
        guard !weak.isEmpty, let index = weak.index(forKey: HashedKey(key, hash: hash)) else {
            misses += 1
            return .nothing
        }
        guard !weak.values[index].isOver(at: now) else {
            misses += 1
            return .over(weak.remove(at: index))
        }
        return .weak(weak.values[index])
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
        guard !weak.isEmpty, let entry = weak[HashedKey(key, hash: hash)], !entry.isOver(at: now) else {
            return .nothing
        }
        return .weak(entry)
    }

    /// Counts a read that has found a living value, and extends its time.
    @inlinable
    mutating func noteWeakHit(_ key: Key, hash: Int, ticket: Int, expires: Double) {
        hits += 1
        weakHits += 1
        if let index = weakIndex(key, hash: hash, ticket: ticket) { weak.values[index].expires = expires }
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
        guard keepsWeakly, !(hasOwnTime && expires <= now), let key = removed.key, let value = removed.value
        else { return removed }
        lastTicket += 1
        removed.ticket = lastTicket
        weak[HashedKey(key, hash: removed.hash)] = WeakEntry(
            held: .departing(value), ticket: lastTicket, cost: removed.cost, lifetime: lifetime, expires: expires,
            hasOwnTime: hasOwnTime)
        return removed
    }

    /// Lets the value of an entry go, of which there is a weak reference now.
    ///
    /// - Returns: what was held until now.
    @inlinable
    mutating func settle(_ key: Key, hash: Int, ticket: Int, as reference: WeakValue<Value>) -> WeakEntry<Value>? {
        guard let index = weakIndex(key, hash: hash, ticket: ticket) else { return nil }
        let former = weak.values[index]
        weak.values[index].held = .weak(reference)
        return former
    }

    /// Moves an entry back to a slot, if nothing has changed since it was found.
    @inlinable
    mutating func putBack(_ value: Value, for key: Key, ticket: Int, mark: EntryMark) -> WeakElement? {
        guard let index = weakIndex(key, hash: mark.hash, ticket: ticket) else { return nil }
        let element = weak.remove(at: index)
        append(value, for: key, mark: mark)
        return element
    }

    /// - Parameter ticket: nil for whatever is there.
    @inlinable
    mutating func removeWeak(_ key: Key, hash: Int, ticket: Int? = nil) -> WeakElement? {
        weakIndex(key, hash: hash, ticket: ticket).map { weak.remove(at: $0) }
    }

    @inlinable
    func weakIndex(_ key: Key, hash: Int, ticket: Int?) -> Dictionary<HashedKey<Key>, WeakEntry<Value>>.Index? {
        guard !weak.isEmpty, let index = weak.index(forKey: HashedKey(key, hash: hash)),
            ticket == nil || weak.values[index].ticket == ticket
        else { return nil }
        return index
    }

    // MARK: Sweeping

    /// All weak entries, to be looked at outside the lock; nobody else looks until there are twice as many.
    @inlinable
    mutating func weakElements() -> [WeakElement] {
        weakLimit = max(Self.leastWeakLimit, weak.count * 2)
        return weak.map { ($0.key, $0.value) }
    }

    /// Removes the weak entries that were found dead, and looks again when there are twice as many as are left.
    @inlinable
    mutating func removeDead(_ dead: [WeakElement]) -> [WeakElement] {
        var removed: [WeakElement] = []
        removed.reserveCapacity(dead.count)
        for element in dead {
            guard let index = weak.index(forKey: element.key), weak.values[index].ticket == element.value.ticket
            else { continue }
            removed.append(weak.remove(at: index))
        }
        weakLimit = max(Self.leastWeakLimit, weak.count * 2)
        return removed
    }
}
