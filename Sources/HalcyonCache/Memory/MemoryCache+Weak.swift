import HalcyonSystem

/// The weak level. The `weakly` closure and those of its references are always called outside the locks: an entry that was
/// found under a lock comes back under it only with the ticket it was found with, which an insert, a removal or another
/// read invalidates.
extension MemoryCache {
    /// Returns the value for a key that the slots do not have.
    @inlinable
    @inline(never)
    func valueElsewhere(for key: Key, hash: Int, now: Double, extending: ExpirationExtension) -> Value? {
        while true {
            switch shards.withLock(hash, { $0.find(key, hash: hash, now: now, extending: extending) }) {
            case .value(let value): return value
            case .present, .nothing, .over: return nil
            case .past(var removed):
                letGo(&removed)
                if removed.ticket == 0 { return nil }
            case .weak(let entry):
                return revive(entry, for: key, hash: hash, now: now, extending: extending)
            }
        }
    }

    /// Returns the value of a weak entry if it is still alive, and puts the entry back into a slot if there is room.
    @inlinable
    func revive(
        _ entry: WeakEntry<Value>, for key: Key, hash: Int, now: Double, extending: ExpirationExtension
    ) -> Value? {
        guard let value = entry.value else {
            let dead = shards.withLock(hash) { shard in
                shard.misses += 1
                return shard.weak.remove(key, hash: hash, ticket: entry.ticket)
            }
            withExtendedLifetime(dead) {}
            return nil
        }
        var expires = entry.expires
        if let lifetime = extending.lifetime(own: entry.lifetime) { expires = max(expires, now + lifetime) }
        shards.withLock(hash) { $0.noteWeakHit(key, hash: hash, ticket: entry.ticket, expires: expires) }
        // An expired entry that the access does not extend would only be removed again.
        guard expires > now else { return value }
        let mark = EntryMark(
            hash: hash, cost: entry.cost, lifetime: entry.lifetime, expires: expires,
            chances: ClockShard<Key, Value>.chancesWhenRead, hasOwnTime: entry.hasOwnTime)
        budget.reserve(cost: entry.cost, count: 1)
        guard makeRoom(now: now, until: { budget.isWithinLimits }),
            let former = shards.withLock(
                hash, { $0.putBack(value, for: key, ticket: entry.ticket, mark: mark) })
        else {
            budget.release(cost: entry.cost, count: 1)
            return value
        }
        withExtendedLifetime(former) {}
        return value
    }

    /// Releases the reservation of an entry that has left its slot, and its value.
    @inlinable
    func letGo(_ removed: inout ClockShard<Key, Value>.Removed) {
        budget.release(cost: removed.cost, count: 1)
        if removed.ticket != 0 { settle(&removed) }
    }

    /// Turns an entry that has left into a weak reference, if its value has other owners.
    @inlinable
    @inline(never)
    func settle(_ removed: inout ClockShard<Key, Value>.Removed) {
        let (hash, ticket) = (removed.hash, removed.ticket)
        // The value, and every reference to it from here, must end before the check whether it is alive.
        let reference: WeakValue<Value>?
        do {
            let value = removed.value.take()
            reference = value.flatMap { weakly?($0) }
        }
        if let reference {
            let former = shards.withLock(hash) { $0.weak.settle(ticket, as: reference) }
            // The entry was put back, replaced or removed meanwhile.
            if former == nil { return }
        }
        let isAlive = reference?.isAlive ?? false
        let (dropped, isSweepDue) = shards.withLock(hash) { shard in
            (shard.weak.arrive(ticket, isAlive: isAlive), shard.weak.settled.count > shard.weak.limit)
        }
        withExtendedLifetime(dropped) {}
        if isSweepDue { sweepWeak(hash, now: clock.now()) }
    }

    /// Removes the weak entries of a shard whose value has ended or whose own expiration has passed. This happens each time
    /// the number of entries has doubled since the last sweep, so that each new entry pays for checking two.
    @inlinable
    @inline(never)
    func sweepWeak(_ shard: Int, now: Double) {
        guard weakly != nil else { return }
        let dead = shards.withLock(shard) { $0.weak.elements() }.filter {
            $0.entry.isOver(at: now) || !$0.entry.isAlive
        }
        let removed = shards.withLock(shard) { $0.weak.removeDead(dead) }
        withExtendedLifetime(removed) {}
    }
}
