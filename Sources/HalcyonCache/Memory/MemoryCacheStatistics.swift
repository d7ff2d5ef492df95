/// What a `MemoryCache` holds and how it has fared since it was made.
public struct MemoryCacheStatistics: Sendable, Hashable {
    /// Reads that found a value, in either level.
    public var hits = 0
    /// Those of them that found it in the weak level only.
    public var weakHits = 0
    /// Reads that found none, or only an expired one.
    public var misses = 0
    /// Entries that had to go to make room. Expired and removed ones do not count.
    public var evictions = 0
    /// What the entries cost together, in bytes.
    public var cost = 0
    /// How many entries there are.
    public var count = 0
    /// How many entries the weak level has. Those whose value has ended count until they are cleared away: before they
    /// are more than the living ones, or 32 in each sixteenth of the cache.
    public var weakCount = 0

    public init() {}
}
