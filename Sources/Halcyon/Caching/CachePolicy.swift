import HalcyonCache

/// Which caches a load reads and writes, for how long they keep what is stored, and how it heeds HTTP's freshness.
public struct CachePolicy: Hashable, Sendable {
    /// What a cache may hold of a request.
    public struct Levels: OptionSet, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The finished image, in memory.
        public static let memory = Levels(rawValue: 1)
        /// The source's bytes, on disk.
        public static let diskOriginal = Levels(rawValue: 2)
        /// The finished image, on disk, as the request's `CacheSerializer` writes it: without loss by default.
        public static let diskProcessed = Levels(rawValue: 4)
        /// The image before any processor, in memory, for other processors to start from. A resize is then no part of
        /// the decode: the image is decoded whole and costs its pixels.
        public static let memoryOriginal = Levels(rawValue: 8)
        /// Both kinds on disk.
        public static let disk: Levels = [.diskOriginal, .diskProcessed]
        static let all: Levels = [.memory, .memoryOriginal, .disk]
    }

    /// How stored HTTP freshness is taken.
    public enum Freshness: Hashable, Sendable {
        /// Explicit HTTP freshness wins; without any an entry is fresh for as long as it is kept.
        case respect
        /// What is kept is good, whatever the server said.
        case ignore
        /// The server is asked whether what is kept still holds, however fresh it is; only what it called `immutable` is
        /// taken as it is while it is fresh (RFC 8246). What no cache may answer at all is `CachePolicy.reload`.
        case revalidate
    }

    public var reads: Levels
    public var writes: Levels
    public var freshness: Freshness
    /// False ends a load that no cache can answer in `ImagePipelineError.notInCache`.
    public var allowsNetwork: Bool
    /// How long memory keeps what is stored; nil is the cache's own time (300 s after the last access).
    public var memoryExpiration: StorageExpiration?
    /// How long the disk keeps what is stored; nil is the cache's own time (7 days after the last access).
    public var diskExpiration: StorageExpiration?
    /// What a hit in memory does to the time the image is kept. It gets its own time again by default.
    public var memoryExtension: ExpirationExtension = .cacheTime
    /// What a hit on disk does to the time the entry is kept; nil, the default, is what the cache's configuration says.
    public var diskExtension: ExpirationExtension?
    /// Whether an image in memory that is larger than asked for will do, as for a view that scales what it draws. False
    /// by default.
    ///
    /// Only for requests without processors, for all of an image at its own size or fitted into a box: any such image of
    /// the same source that has at least the pixels that the request would give.
    public var acceptsLarger = false
    /// Whether what a cache has and the server must be asked about first is shown meanwhile, as an `ImageEvent.preview`.
    /// False by default.
    ///
    /// At once from memory; from the disk after a decode of its own. Then the load goes on as without: a server that
    /// says that it still holds ends in the same image, a failure in its error. Only what the policy reads and may ask
    /// the server about, and nothing that the server does not allow to be used stale (`no-cache`, `must-revalidate`).
    public var showsStale = false
    /// Whether the load ends only once its image is stored, on the disk as well. False by default. A store that fails
    /// does not fail the load.
    public var waitsForStore = false
    /// Whether a memory miss looks at the disk on the caller's thread, which blocks for the read, the decode and the
    /// processors. An image that is there is delivered at once. False by default.
    public var readsDiskSynchronously = false

    public init(
        reads: Levels = [.memory, .diskOriginal, .diskProcessed], writes: Levels = [.memory, .diskOriginal],
        freshness: Freshness = .respect, allowsNetwork: Bool = true, memoryExpiration: StorageExpiration? = nil,
        diskExpiration: StorageExpiration? = nil
    ) {
        self.reads = reads
        self.writes = writes
        self.freshness = freshness
        self.allowsNetwork = allowsNetwork
        self.memoryExpiration = memoryExpiration
        self.diskExpiration = diskExpiration
    }
}

extension CachePolicy {
    /// Every cache is read; memory gets the finished image, the disk the source's bytes.
    public static let `default` = CachePolicy()
    /// No cache is read; what comes replaces what was stored.
    public static let reload = CachePolicy(reads: [])
    /// The server is asked whether what is kept still holds.
    public static let revalidate = CachePolicy(freshness: .revalidate)
    /// What is kept is shown as a preview while the server is asked whether it still holds.
    public static var showStaleAndRevalidate: CachePolicy {
        var policy = CachePolicy.revalidate
        policy.showsStale = true
        return policy
    }
    /// The caches only, whatever their age.
    public static let onlyIfCached = CachePolicy(freshness: .ignore, allowsNetwork: false)
    /// Caches are read, nothing is stored.
    public static let noStore = CachePolicy(writes: [])
    /// The disk is left alone.
    public static let memoryOnly = CachePolicy(reads: .memory, writes: .memory)
    /// What is in memory, else what the server says now: the disk is written and not read.
    public static let memoryOrReload = CachePolicy(reads: .memory)
    /// The finished image is kept on disk beside the source's bytes.
    public static let storeProcessed = CachePolicy(writes: [.memory, .diskOriginal, .diskProcessed])
    /// The image before any processor is kept in memory, too, so that other processors need no second decode.
    public static let keepOriginal = CachePolicy(
        reads: [.memory, .memoryOriginal, .diskOriginal, .diskProcessed],
        writes: [.memory, .memoryOriginal, .diskOriginal])
    /// The load ends once its image is stored, on the disk as well.
    public static var waitForStore: CachePolicy {
        var policy = CachePolicy()
        policy.waitsForStore = true
        return policy
    }
    /// What is on disk is delivered at once, as what is in memory; the caller's thread waits for it.
    public static var synchronousDisk: CachePolicy {
        var policy = CachePolicy()
        policy.readsDiskSynchronously = true
        return policy
    }
}
