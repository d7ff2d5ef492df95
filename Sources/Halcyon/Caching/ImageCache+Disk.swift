import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonProcessing
import HalcyonSystem

/// Images on disk, and over both levels.
extension ImageCache {
    /// Levels together.
    public struct Levels: OptionSet, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let memory = Levels(rawValue: 1)
        public static let disk = Levels(rawValue: 2)
        public static let all: Levels = [.memory, .disk]

        /// The same levels, as a policy names them.
        fileprivate var policyLevels: CachePolicy.Levels {
            var levels: CachePolicy.Levels = contains(.disk) ? .disk : []
            if contains(.memory) { levels.formUnion([.memory, .memoryOriginal]) }
            return levels
        }
    }

    // MARK: - Finding

    /// The image from memory, else from disk, whatever HTTP says of its age: the finished image, or made of the source's
    /// bytes. What comes from disk is kept in memory; a request's policy may say otherwise to both.
    ///
    /// Bytes on disk that are no image are removed.
    ///
    /// - Returns: nil when neither level has it.
    /// - Throws: `CodecError` where a limit refuses what is there; what a processor throws; `CancellationError`.
    public func image(for item: some ImageKeyConvertible, priority: RequestPriority = .normal) async throws -> Image? {
        let (key, policy) = (key(for: item), item.cachePolicy)
        if let cached = image(for: key, policy: policy) { return cached.image }
        let mark = news.mark(key)
        let reader = DiskImageReader(
            cache: self, coders: key.coders ?? coders, serializer: serializer, policy: policy,
            ticket: WorkTicket(priority: priority))
        var found: CachedImage?
        if policy.reads.contains(.diskProcessed) { found = try await reader.finished(key) }
        if found == nil, policy.reads.contains(.diskOriginal) { found = try await reader.madeOfOriginal(key) }
        guard let found else { return nil }
        if !mark.isOutdated(in: .memory) { remember(found, for: key, policy: policy) }
        return found.image
    }

    /// Where the finished image, or else its source's bytes, would be found; memory is asked first. Asking extends no
    /// time.
    public func cachedLevel(for item: some ImageKeyConvertible) async -> Level? {
        let key = key(for: item)
        if memoryCache.contains(key) { return .memory }
        if key.user != nil, let shared = memoryCache.value(for: key.of(nil), extending: .none),
            ImageKey.isForAll(shared.http)
        {
            return .memory
        }
        guard let disk else { return nil }
        if await disk.contains(key.processedDiskKey) { return .disk }
        if await disk.contains(key.originalDiskKey) { return .disk }
        guard key.user != nil else { return nil }
        if await disk.peek(key.of(nil).processedDiskKey)?.isFinishedForAll == true { return .disk }
        return await disk.peek(key.of(nil).originalDiskKey)?.isOriginalForAll == true ? .disk : nil
    }

    /// What the disk holds of a source: its bytes, what HTTP said of them, and until when it is kept. Looking is no
    /// access: it does not extend the entry's time.
    public func storedOriginal(for item: some ImageKeyConvertible) async -> DiskEntry? {
        await peek(key(for: item), at: \.originalDiskKey, isForAll: \.isOriginalForAll)
    }

    func peek(
        _ key: ImageKey, at place: @Sendable (ImageKey) -> DiskKey, isForAll: @Sendable (DiskEntry) -> Bool,
        ticket: WorkTicket = WorkTicket()
    ) async -> DiskEntry? {
        await key.firstEntry(at: place, isForAll: isForAll) { await disk?.peek($0, ticket: ticket) }?.entry
    }

    /// What was given to `store` beside an image; nil where the disk does not have the image.
    public func extendedData(for item: some ImageKeyConvertible) async -> Data? {
        let key = key(for: item)
        let entry =
            key.isProcessed
            ? await peek(key, at: \.processedDiskKey, isForAll: \.isFinishedForAll)
            : await peek(key, at: \.originalDiskKey, isForAll: \.isOriginalForAll)
        return entry?.extended
    }

    // MARK: - Storing

    /// Keeps an image: in memory before this returns for the first time, on disk behind; `disk.flush()` waits for that.
    ///
    /// - Parameters:
    ///   - original: the source's bytes. The disk keeps them for an image that shows them unchanged, and for a processed
    ///     one beside it, for other processors to start from.
    ///   - levels: where to; both by default.
    ///   - expiration: how long; nil is each level's own time.
    ///   - extended: kept on disk beside the image, for `extendedData(for:)`.
    ///   - serializer: nil is the cache's own.
    /// - Throws: `ImageCacheError.preview`; what the serializer throws, `CodecError` among it; `CancellationError` before
    ///   the disk had room for it. A write that fails later counts in `disk.statistics`.
    public func store(
        _ image: Image, original: Data? = nil, for item: some ImageKeyConvertible, to levels: Levels = .all,
        expiration: StorageExpiration? = nil, extended: Data = Data(), serializer: (any CacheSerializer)? = nil
    ) async throws {
        guard !image.info.isPreview else { throw ImageCacheError.preview }
        let key = key(for: item)
        if levels.contains(.memory) {
            let cached = CachedImage(image: image, encodedBytes: original?.count ?? 0, http: nil)
            remember(cached, for: key, expiration: expiration)
        }
        guard levels.contains(.disk), let disk, key.isStorable else { return }
        let writer = DiskImageWriter(
            disk: disk, key: key, url: item.cachedURL, coders: coders, serializer: serializer ?? self.serializer,
            expiration: expiration, extended: extended, ticket: WorkTicket(priority: .low))
        // What a pipeline is still encoding is older.
        for key in [key.processedDiskKey, key.originalDiskKey] { await stores.void(key)?.value }
        try await writer.store(image, original: original)
    }

    // MARK: - Removing

    /// Forgets an image, and on disk its source's bytes with all that was encoded of them for web responses: what is kept
    /// for everybody and, by a request with a credential, what is kept for its user. Of what is kept for other users nothing.
    public func remove(_ item: some ImageKeyConvertible, from levels: Levels = .all) async {
        await remove(key(for: item), levels)
    }

    func remove(_ key: ImageKey, _ levels: Levels) async {
        // Loads under way would bring it back.
        news.add(levels.policyLevels, for: key)
        if key.user != nil { await remove(key.of(nil), levels) }
        if levels.contains(.memory) { memoryCache.remove(key) }
        guard levels.contains(.disk) else { return }
        removals.mark(key.source)
        await disk?.remove(key.encodedSealKey)
        for key in [key.processedDiskKey, key.originalDiskKey] {
            // What is still being encoded would come back.
            stores.void(key)
            await disk?.remove(key)
        }
        // What began meanwhile may be encoded of bytes that were still there.
        removals.mark(key.source)
        await disk?.remove(key.encodedSealKey)
    }

    /// Forgets what is past its time.
    public func removeExpired(from levels: Levels = .all) async {
        if levels.contains(.memory) { memoryCache.removeExpired() }
        if levels.contains(.disk) { await disk?.removeExpired() }
    }

    /// Removes every file of the disk level, and what is kept there of downloads that broke off.
    public func clearDisk() async {
        removals.markAll()
        stores.voidAll()
        await disk?.removeAll()
        // What began meanwhile may be encoded of bytes that were still there.
        removals.markAll()
    }

    // MARK: - Sizes

    /// Bytes on disk, by a scan; 0 without a disk level.
    public var diskSize: Int {
        get async { await disk?.size() ?? 0 }
    }

    /// Entries on disk, by a scan; 0 without a disk level.
    public var diskCount: Int {
        get async { await disk?.count() ?? 0 }
    }
}
