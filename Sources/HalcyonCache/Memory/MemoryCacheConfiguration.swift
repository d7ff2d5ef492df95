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
    public static var defaultCostLimit: Int {
        min(SystemGrant.current.memory / 4, 1 << 30)
    }
}
