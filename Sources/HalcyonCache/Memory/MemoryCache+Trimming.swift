import HalcyonSystem

extension MemoryCache {
    /// Evicts until the entries cost at most this much together, in bytes; the limit stays as it is.
    public func trim(toCost target: Int) {
        _ = makeRoom(now: clock.now(), until: { budget.cost <= target })
    }

    /// Evicts until a fraction of what is held now is left, by cost as by count; the limits stay as they are.
    ///
    /// - Parameter fraction: 0 evicts everything, 1 and more and NaN nothing.
    public func trim(toFraction fraction: Double) {
        guard fraction < 1 else { return }
        let share = max(0, fraction)
        let (cost, count) = (Int(Double(budget.cost) * share), Int(Double(budget.count) * share))
        _ = makeRoom(now: clock.now(), until: { budget.cost <= cost && budget.count <= count })
    }

    /// Gives memory back: half of what is held stays on a warning, a tenth when memory is short, nothing when it is
    /// critical. What anything else keeps is still found in the weak level.
    public func relieve(_ pressure: MemoryPressure) {
        switch pressure {
        case .warning: trim(toFraction: 0.5)
        case .high: trim(toFraction: 0.1)
        case .critical: trim(toFraction: 0)
        }
    }
}
