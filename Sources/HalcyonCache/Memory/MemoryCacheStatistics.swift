/// What a `MemoryCache` holds and how it has fared since it was made.
public struct MemoryCacheStatistics: Sendable, Hashable {
    /// Reads that found a value.
    public var hits = 0
    /// Reads that found none, or only an expired one.
    public var misses = 0
    /// Entries that had to go to make room. Expired and removed ones do not count.
    public var evictions = 0
    /// What the entries cost together, in bytes.
    public var cost = 0
    /// How many entries there are.
    public var count = 0

    public init() {}
}
