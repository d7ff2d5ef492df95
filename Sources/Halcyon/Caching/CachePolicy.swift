import HalcyonCache

/// The caches that a load reads and writes, the time that they keep its entries, and the treatment of HTTP freshness.
public struct CachePolicy: Hashable, Sendable {
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

    /// The levels that a load reads; all but `memoryOriginal` by default.
    public var reads: CacheLevels
    /// The levels that a load writes; the finished image in memory and the source's bytes on disk by default.
    public var writes: CacheLevels
    /// The treatment of HTTP freshness, `.respect` by default.
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

    /// Creates a policy; options that are not arguments have their defaults.
    public init(
        reads: CacheLevels = [.memory, .diskOriginal, .diskProcessed], writes: CacheLevels = [.memory, .diskOriginal],
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

// MARK: - Presets

extension CachePolicy {
    /// A policy that reads every cache, stores the finished image in memory and the source's bytes on disk.
    public static let `default` = CachePolicy()
    /// A policy that reads no cache; the loaded image replaces the stored one.
    public static let reload = CachePolicy(reads: [])
    /// A policy that revalidates stored entries with the server.
    public static let revalidate = CachePolicy(freshness: .revalidate)
    /// A policy that shows the stored image as a preview while the server is asked to revalidate it.
    public static let showStaleAndRevalidate = revalidate.changing { $0.showsStale = true }
    /// A policy that uses only the caches, whatever the age of their entries.
    public static let onlyIfCached = CachePolicy(freshness: .ignore, allowsNetwork: false)
    /// A policy that reads the caches and stores nothing.
    public static let noStore = CachePolicy(writes: [])
    /// A policy that neither reads nor writes the disk.
    public static let memoryOnly = CachePolicy(reads: .memory, writes: .memory)
    /// A policy that uses memory, and otherwise loads from the server: the disk is written but not read.
    public static let memoryOrReload = CachePolicy(reads: .memory)
    /// A policy that stores the finished image on disk in addition to the source's bytes.
    public static let storeProcessed = CachePolicy(writes: [.memory, .disk])
    /// A policy that also keeps the image before any processor in memory, so that other processors need no second decode.
    public static let keepOriginal = CachePolicy(
        reads: [.memory, .memoryOriginal, .disk], writes: [.memory, .memoryOriginal, .diskOriginal])
    /// A policy whose loads end once their image is stored, including on the disk.
    public static let waitForStore = CachePolicy().changing { $0.waitsForStore = true }
    /// A policy that delivers images on disk synchronously, like those in memory; the caller's thread waits for the disk.
    public static let synchronousDisk = CachePolicy().changing { $0.readsDiskSynchronously = true }

    /// Returns a policy that differs from the default in all that this policy and another one differ in.
    ///
    ///     request.cachePolicy = .revalidate.combined(with: .storeProcessed)
    ///
    /// A level is read or written if either policy adds it to the default's, and neither removes it. Of two different values
    /// for another option, the other policy's wins.
    public func combined(with other: CachePolicy) -> CachePolicy {
        let base = CachePolicy.default
        func levels(_ path: KeyPath<CachePolicy, CacheLevels>) -> CacheLevels {
            let (own, theirs, usual) = (self[keyPath: path], other[keyPath: path], base[keyPath: path])
            let removed = usual.subtracting(own.intersection(theirs))
            return usual.union(own).union(theirs).subtracting(removed)
        }
        func option<Value: Equatable>(_ path: KeyPath<CachePolicy, Value>) -> Value {
            let theirs = other[keyPath: path]
            return theirs == base[keyPath: path] ? self[keyPath: path] : theirs
        }
        var policy = CachePolicy(
            reads: levels(\.reads), writes: levels(\.writes), freshness: option(\.freshness),
            allowsNetwork: option(\.allowsNetwork), memoryExpiration: option(\.memoryExpiration),
            diskExpiration: option(\.diskExpiration))
        policy.memoryExtension = option(\.memoryExtension)
        policy.diskExtension = option(\.diskExtension)
        policy.acceptsLarger = option(\.acceptsLarger)
        policy.showsStale = option(\.showsStale)
        policy.waitsForStore = option(\.waitsForStore)
        policy.readsDiskSynchronously = option(\.readsDiskSynchronously)
        return policy
    }

    private func changing(_ change: (inout CachePolicy) -> Void) -> CachePolicy {
        var policy = self
        change(&policy)
        return policy
    }
}
