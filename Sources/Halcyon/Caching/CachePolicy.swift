import HalcyonCache

/// The caches that a load reads and writes, the time that they keep its entries, and the treatment of HTTP freshness.
public struct CachePolicy: Hashable, Sendable {
    /// The kinds of data that the caches hold for a request.
    public struct Levels: OptionSet, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The finished image, in memory.
        public static let memory = Levels(rawValue: 1)
        /// The source's bytes, on disk.
        public static let diskOriginal = Levels(rawValue: 2)
        /// The finished image, on disk, as the request's `CacheSerializer` encodes it; lossless by default.
        public static let diskProcessed = Levels(rawValue: 4)
        /// The image before any processor, in memory, as the input of other processors. A resize is then not merged into the
        /// decode: the image is decoded at full size and costs the memory of all its pixels.
        public static let memoryOriginal = Levels(rawValue: 8)
        /// Both disk levels.
        public static let disk: Levels = [.diskOriginal, .diskProcessed]
        static let all: Levels = [.memory, .memoryOriginal, .disk]
    }

    /// The treatment of stored HTTP freshness.
    public enum Freshness: Hashable, Sendable {
        /// Follows explicit HTTP freshness. A response without any is fresh for as long as its entry is kept.
        case respect
        /// Uses every stored entry, whatever the server said about its freshness.
        case ignore
        /// Revalidates every stored entry with the server, however fresh it is. Only a response that the server called
        /// `immutable` is used as it is while it is fresh (RFC 8246). `CachePolicy.reload` does not use stored entries at all.
        case revalidate
    }

    public var reads: Levels
    public var writes: Levels
    public var freshness: Freshness
    /// Whether the load may use the network. If it may not, a load that no cache can answer fails with
    /// `ImagePipelineError.notInCache`. True by default.
    public var allowsNetwork: Bool
    /// The time that memory keeps the image; nil is the cache's own time (300 s after the last access).
    public var memoryExpiration: StorageExpiration?
    /// The time that the disk keeps the entry; nil is the cache's own time (7 days after the last access).
    public var diskExpiration: StorageExpiration?
    /// The effect of a hit in memory on the image's expiration. By default its own time starts anew.
    public var memoryExtension: ExpirationExtension = .cacheTime
    /// The effect of a hit on disk on the entry's expiration; nil, the default, follows the cache's configuration.
    public var diskExtension: ExpirationExtension?
    /// Whether an image in memory that is larger than requested may be used, as for a view that scales its image. False by
    /// default.
    ///
    /// Applies only to requests without processors, for a whole image at its own size or fitted into a box. The image must be
    /// of the same source and have at least the pixels that the request would produce.
    public var acceptsLarger = false
    /// Whether a cached image that must be revalidated is shown as an `ImageEvent.preview` while the server is asked. False by
    /// default.
    ///
    /// The preview comes at once from memory, or after a separate decode from the disk. The load continues as it would without
    /// it: a server that confirms the cached image ends it with the same image, a failure with its error. Only images that the
    /// policy may read and revalidate are shown, and none that the server does not allow to be used stale (`no-cache`,
    /// `must-revalidate`).
    public var showsStale = false
    /// Whether the load ends only once its image is stored, including on the disk. False by default. A store that fails does
    /// not fail the load.
    public var waitsForStore = false
    /// Whether a memory miss reads the disk on the caller's thread, which blocks during the read, the decode and the
    /// processors. An image that is found there is delivered at once. False by default.
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
    /// A policy that reads every cache, stores the finished image in memory and the source's bytes on disk.
    public static let `default` = CachePolicy()
    /// A policy that reads no cache; the loaded image replaces the stored one.
    public static let reload = CachePolicy(reads: [])
    /// A policy that revalidates stored entries with the server.
    public static let revalidate = CachePolicy(freshness: .revalidate)
    /// A policy that shows the stored image as a preview while the server is asked to revalidate it.
    public static var showStaleAndRevalidate: CachePolicy {
        var policy = CachePolicy.revalidate
        policy.showsStale = true
        return policy
    }
    /// A policy that uses only the caches, whatever the age of their entries.
    public static let onlyIfCached = CachePolicy(freshness: .ignore, allowsNetwork: false)
    /// A policy that reads the caches and stores nothing.
    public static let noStore = CachePolicy(writes: [])
    /// A policy that neither reads nor writes the disk.
    public static let memoryOnly = CachePolicy(reads: .memory, writes: .memory)
    /// A policy that uses memory, and otherwise loads from the server: the disk is written but not read.
    public static let memoryOrReload = CachePolicy(reads: .memory)
    /// A policy that stores the finished image on disk in addition to the source's bytes.
    public static let storeProcessed = CachePolicy(writes: [.memory, .diskOriginal, .diskProcessed])
    /// A policy that also keeps the image before any processor in memory, so that other processors need no second decode.
    public static let keepOriginal = CachePolicy(
        reads: [.memory, .memoryOriginal, .diskOriginal, .diskProcessed],
        writes: [.memory, .memoryOriginal, .diskOriginal])
    /// A policy whose loads end once their image is stored, including on the disk.
    public static var waitForStore: CachePolicy {
        var policy = CachePolicy()
        policy.waitsForStore = true
        return policy
    }
    /// A policy that delivers images on disk synchronously, like those in memory; the caller's thread waits for the disk.
    public static var synchronousDisk: CachePolicy {
        var policy = CachePolicy()
        policy.readsDiskSynchronously = true
        return policy
    }
}
