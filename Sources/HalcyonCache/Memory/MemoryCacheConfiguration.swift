import HalcyonSystem

/// The limits of a `MemoryCache`.
public struct MemoryCacheConfiguration: Sendable, Hashable {
    /// What all entries may cost together, in bytes. Default: a quarter of the memory that the system grants this
    /// process, at most 1 GiB.
    public var costLimit: Int
    /// How many entries there may be; nil, the default, is no limit.
    public var countLimit: Int?
    /// What one entry may cost, in bytes; a dearer one is not kept. Nil, the default, is half of `costLimit`.
    public var entryCostLimit: Int?
    /// How long an entry is kept after its last access; nil keeps it until room is needed. Default: 300 seconds.
    public var timeToLive: Duration?
    /// How often what is past its time is removed, though nobody asks for it; nil for never, at least a second. The
    /// first time comes that long after the first insert. Default: 120 seconds.
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
