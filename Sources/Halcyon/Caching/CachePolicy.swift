import HalcyonCache

/// Which caches a load reads and writes, and how it heeds HTTP's freshness.
public struct CachePolicy: Hashable, Sendable {
    /// What a cache may hold of a request.
    public struct Levels: OptionSet, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The finished image, in memory.
        public static let memory = Levels(rawValue: 1)
        /// The source's bytes, on disk.
        public static let diskOriginal = Levels(rawValue: 2)
        /// The finished image, on disk, encoded without loss.
        public static let diskProcessed = Levels(rawValue: 4)
    }

    /// How stored HTTP freshness is taken.
    public enum Freshness: Hashable, Sendable {
        /// Explicit HTTP freshness wins; without any an entry is fresh for as long as it is kept.
        case respect
        /// What is kept is good, whatever the server said.
        case ignore
    }

    public var reads: Levels
    public var writes: Levels
    public var freshness: Freshness
    /// False ends a load that no cache can answer in `ImagePipelineError.notInCache`.
    public var allowsNetwork: Bool
    /// How long the disk keeps what is stored; nil is the cache's own time (7 days).
    public var expiration: StorageExpiration?

    public init(
        reads: Levels = [.memory, .diskOriginal, .diskProcessed], writes: Levels = [.memory, .diskOriginal],
        freshness: Freshness = .respect, allowsNetwork: Bool = true, expiration: StorageExpiration? = nil
    ) {
        self.reads = reads
        self.writes = writes
        self.freshness = freshness
        self.allowsNetwork = allowsNetwork
        self.expiration = expiration
    }

    /// Every cache is read; memory gets the finished image, the disk the source's bytes.
    public static let `default` = CachePolicy()
    /// No cache is read; what comes replaces what was stored.
    public static let reload = CachePolicy(reads: [])
    /// The caches only, whatever their age.
    public static let onlyIfCached = CachePolicy(freshness: .ignore, allowsNetwork: false)
    /// Caches are read, nothing is stored.
    public static let noStore = CachePolicy(writes: [])
    /// The disk is left alone.
    public static let memoryOnly = CachePolicy(reads: .memory, writes: .memory)
}
