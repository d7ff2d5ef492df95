import HalcyonSystem

/// The ways out of the cache but for a removal: eviction, expiration, and the weak level behind them.
extension MemoryCache {
    /// Evicts entries until their total cost is at most `target`, in bytes. The limit does not change.
    public func trim(toCost target: Int) {
        trim(toCost: target, count: .max)
    }

    /// Evicts entries until a fraction of the current cost and of the current count is left. The limits do not change.
    ///
    /// - Parameter fraction: 0 evicts everything; 1, more, and NaN evict nothing.
    public func trim(toFraction fraction: Double) {
        guard fraction < 1 else { return }
        let share = max(0, fraction)
        let (cost, count) = state.withLock { (Int(Double($0.cost) * share), Int(Double($0.count) * share)) }
        trim(toCost: cost, count: count)
    }

    /// Evicts entries under memory pressure: half of the cache stays on a warning, a tenth on high pressure, nothing on
    /// critical pressure. Values that have other owners can still be found in the weak level.
    public func relieve(_ pressure: MemoryPressure) {
        switch pressure {
        case .warning: trim(toFraction: 0.5)
        case .high: trim(toFraction: 0.1)
        case .critical: trim(toFraction: 0)
        }
    }

    func trim(toCost cost: Int, count: Int) {
        let now = clock.now()
        while let removed = state.withLock({ state in
            state.cost > cost || state.count > count ? evictNext(now: now, &state) : nil
        }) {
            withExtendedLifetime(removed) {}
        }
        if state.withLock({ $0.weak.isSweepDue }) { sweepWeak(now: now) }
    }

    /// Moves the hand to the next entry to evict, and returns it; nil if there is none.
    @inlinable
    func evictNext(now: Double, _ state: inout State) -> Shard.Removed? {
        // After three turns every entry has used up its chances; the fourth turn finds any that is left.
        for _ in 0..<shards.count * 4 {
            if !shards.shard(state.hand).pointee.isEmpty,
                var removed = shards.withLock(state.hand, { $0.advanceHand(now: now) })
            {
                if removed.mark.expires > now { state.evictions += 1 }
                state.subtract(removed.mark)
                depart(&removed, now: now, &state)
                return removed
            }
            state.hand &+= 1
        }
        return nil
    }

    /// Takes the entry of a key out of its slot.
    @inlinable
    func takeOut(_ key: Key, hash: Int, _ state: inout State) -> Shard.Removed? {
        guard let slot = shards.shard(hash).pointee.slot(of: key, hash: hash) else { return nil }
        let removed = shards.withLock(hash) { $0.remove(slot) }
        state.subtract(removed.mark)
        return removed
    }

    /// Takes the entry of a key out of its slot, in which it has been found expired.
    @inlinable
    func takeOutExpired(_ key: Key, hash: Int, now: Double, _ state: inout State) -> Shard.Removed? {
        guard var removed = takeOut(key, hash: hash, &state) else { return nil }
        depart(&removed, now: now, &state)
        return removed
    }

    /// Moves an entry that has left its slot to the weak level, unless its own expiration has passed.
    @inlinable
    func depart(_ removed: inout Shard.Removed, now: Double, _ state: inout State) {
        guard let weakly, !removed.mark.hasEnded(at: now), let reference = weakly(&removed.value) else { return }
        state.weak.entries[removed.key] = WeakLevel.Entry(reference, mark: removed.mark)
    }

    /// Removes the weak entries whose value has ended or whose own expiration has passed. This happens each time the number of
    /// entries has doubled since the last sweep, so that each new entry pays for checking two.
    @inlinable
    @inline(never)
    func sweepWeak(now: Double) {
        guard weakly != nil else { return }
        let ended = state.withLock { $0.weak.elements() }.filter {
            $0.value.mark.hasEnded(at: now) || $0.value.reference.object == nil
        }
        let removed = state.withLock { $0.weak.remove(ended) }
        withExtendedLifetime(removed) {}
    }
}
