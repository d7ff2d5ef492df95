/// The contents of a `MemoryCache`, and its counters since it was created.
public struct MemoryCacheStatistics: Sendable, Hashable {
    /// The number of reads that found a value, in either level.
    public var hits = 0
    /// The number of hits that found the value in the weak level only.
    public var weakHits = 0
    /// The number of reads that found no entry, or only an expired one.
    public var misses = 0
    /// The number of entries that were evicted to make room. Expired and removed ones do not count.
    public var evictions = 0
    /// The total cost of the entries, in bytes.
    public var cost = 0
    /// The number of entries.
    public var count = 0
    /// The number of entries in the weak level. Entries whose value has ended count until they are swept: before they
    /// outnumber the live ones, or before there are 32 in each of the 16 shards.
    public var weakCount = 0

    public init() {}
}
