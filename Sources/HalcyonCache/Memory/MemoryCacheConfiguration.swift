import HalcyonSystem

/// The limits of a `MemoryCache`.
public struct MemoryCacheConfiguration: Sendable, Hashable {
    /// The maximum total cost of all entries, in bytes. Default: a quarter of the memory that the system grants this
    /// process, at most 1 GiB.
    public var costLimit: Int
    /// The maximum number of entries; nil, the default, is no limit.
    public var countLimit: Int?
    /// The maximum cost of one entry, in bytes; an entry above it is not stored. Nil, the default, is half of `costLimit`.
    public var entryCostLimit: Int?
    /// The time for which an entry is kept after its last access; nil keeps it until room is needed. Default: 300 seconds.
    public var timeToLive: Duration?
    /// The interval at which expired entries are removed even if they are not accessed, at least a second; nil for never.
    /// The first sweep is one interval after the first insert. Default: 120 seconds.
    public var sweepInterval: Duration?

    /// Creates limits; each parameter is the property of its name.
    public init(
        costLimit: Int = MemoryCacheConfiguration.defaultCostLimit,
        countLimit: Int? = nil,
        entryCostLimit: Int? = nil,
        timeToLive: Duration? = .seconds(300),
        sweepInterval: Duration? = .seconds(120)
    ) {
        self.costLimit = costLimit
        self.countLimit = countLimit
        self.entryCostLimit = entryCostLimit
        self.timeToLive = timeToLive
        self.sweepInterval = sweepInterval
    }

    /// A quarter of the memory that the system grants this process, at most 1 GiB.
    public static var defaultCostLimit: Int { costLimit(ofMemory: SystemGrant.current.memory) }

    static func costLimit(ofMemory bytes: Int) -> Int { min(bytes / 4, 1 << 30) }
}

/// The contents of a `MemoryCache`, and its counters since it was created.
public struct MemoryCacheStatistics: Sendable, Hashable {
    /// The number of reads that found a value, in either level.
    public var hits = 0
    /// The number of hits that found the value in the weak level only.
    public var weakHits = 0
    /// The number of reads that found no entry, or only an expired one. The load of an image that memory does not have counts
    /// once, however many keys it looks up.
    public var misses = 0
    /// The number of entries that were evicted to make room. Expired and removed ones do not count.
    public var evictions = 0
    /// The total cost of the entries, in bytes.
    public var cost = 0
    /// The number of entries.
    public var count = 0
    /// The number of entries in the weak level. Entries whose value has ended count until they are swept: before they
    /// outnumber the live ones, or before there are 512.
    public var weakCount = 0

    /// Creates statistics in which everything is 0.
    public init() {}
}
