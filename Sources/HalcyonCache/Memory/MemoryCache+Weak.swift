import HalcyonSystem

/// The weak level. Its owner's closures are called here, always outside the locks: what was found under a lock comes
/// back under it only with the ticket it was found with, which an insert, a removal or another read makes void.
extension MemoryCache {
    /// The value for a key that the slots do not have.
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

    /// The value of a weak entry if anything keeps it; puts it back if there is room.
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
        // One that is over and that the access does not extend would only be taken out again.
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

    /// Gives the room of an entry back that has left its slot, and lets its value go.
    @inlinable
    func letGo(_ removed: inout ClockShard<Key, Value>.Removed) {
        budget.release(cost: removed.cost, count: 1)
        if removed.ticket != 0 { settle(&removed) }
    }

    /// Turns what has left into a weak reference, if anything else keeps it.
    @inlinable
    @inline(never)
    func settle(_ removed: inout ClockShard<Key, Value>.Removed) {
        let (hash, ticket) = (removed.hash, removed.ticket)
        // The value and all that holds it here end before it is asked whether it lives.
        let reference: WeakValue<Value>?
        do {
            let value = removed.value.take()
            reference = value.flatMap { weakly?($0) }
        }
        if let reference {
            let former = shards.withLock(hash) { $0.weak.settle(ticket, as: reference) }
            // It is back, replaced or removed.
            if former == nil { return }
        }
        let isAlive = reference?.isAlive ?? false
        let (dropped, isSweepDue) = shards.withLock(hash) { shard in
            (shard.weak.arrive(ticket, isAlive: isAlive), shard.weak.settled.count > shard.weak.limit)
        }
        withExtendedLifetime(dropped) {}
        if isSweepDue { sweepWeak(hash, now: clock.now()) }
    }

    /// Removes the weak entries of a shard whose value has ended or whose own time is over. Comes up each time there are
    /// twice as many as were left, so that a new entry pays for looking at two.
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
