import HalcyonSystem

extension MemoryCache {
    /// Evicts entries until their total cost is at most `target`, in bytes. The limit does not change.
    public func trim(toCost target: Int) {
        _ = makeRoom(now: clock.now(), until: { budget.cost <= target })
    }

    /// Evicts entries until a fraction of the current cost and of the current count is left. The limits do not change.
    ///
    /// - Parameter fraction: 0 evicts everything; 1, more, and NaN evict nothing.
    public func trim(toFraction fraction: Double) {
        guard fraction < 1 else { return }
        let share = max(0, fraction)
        let (cost, count) = (Int(Double(budget.cost) * share), Int(Double(budget.count) * share))
        _ = makeRoom(now: clock.now(), until: { budget.cost <= cost && budget.count <= count })
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
}
