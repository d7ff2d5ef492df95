import Synchronization

/// The limits that the shards of a `MemoryCache` share, and the cost and count reserved from them.
///
/// Per-shard limits that add up to the whole would refuse any entry larger than a sixteenth of it. So there is one budget
/// for all shards: an insert makes its reservation here first, makes room by evicting wherever the clock's hand stands, and
/// only then stores its value. The resident cost therefore never exceeds the limit, not even for a moment.
@usableFromInline
final class CacheBudget: Sendable {
    @usableFromInline let costLimit: Int
    @usableFromInline let countLimit: Int
    private let reservedCost = Atomic<Int>(0)
    private let reservedCount = Atomic<Int>(0)

    init(costLimit: Int, countLimit: Int) {
        self.costLimit = costLimit
        self.countLimit = countLimit
    }

    /// The cost of the entries that are resident or about to be.
    @usableFromInline var cost: Int { reservedCost.load(ordering: .relaxed) }

    @usableFromInline var count: Int { reservedCount.load(ordering: .relaxed) }

    @usableFromInline var isWithinLimits: Bool {
        reservedCost.load(ordering: .relaxed) <= costLimit && reservedCount.load(ordering: .relaxed) <= countLimit
    }

    @usableFromInline
    func reserve(cost: Int, count: Int) {
        if cost != 0 { reservedCost.wrappingAdd(cost, ordering: .relaxed) }
        if count != 0 { reservedCount.wrappingAdd(count, ordering: .relaxed) }
    }

    /// Reserves the cost and count of one more entry, and returns false if there is no room for it.
    @usableFromInline
    func reserveIfThereIsRoom(cost: Int) -> Bool {
        // Checked first, since a cache is usually full, and undoing a reservation takes four atomic operations.
        guard reservedCost.load(ordering: .relaxed) <= costLimit - cost,
            reservedCount.load(ordering: .relaxed) < countLimit
        else { return false }
        reserve(cost: cost, count: 1)
        if isWithinLimits { return true }
        release(cost: cost, count: 1)
        return false
    }

    @usableFromInline
    func release(cost: Int, count: Int) {
        reserve(cost: -cost, count: -count)
    }
}
