import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonProcessing
import HalcyonSystem

/// The members for images on disk, and for both levels together.
extension ImageCache {
    // MARK: - Finding

    /// Returns the image from memory, or else from disk, whatever its HTTP age: the finished image, or one made from the
    /// source's bytes. An image from disk is stored in memory; the policy of a request may restrict the look-ups and the
    /// storing.
    ///
    /// Bytes on disk that are not an image are removed.
    ///
    /// - Returns: nil if neither level has the image.
    /// - Throws: `CodecError` if the entry exceeds a limit; errors of a processor; `CancellationError`.
    public func image(for item: some ImageKeyConvertible, priority: RequestPriority = .normal) async throws -> Image? {
        let (key, policy) = (key(for: item), policy(of: item))
        if let cached = image(for: key, policy: policy) { return cached.image }
        let mark = changes.mark(key)
        let reader = DiskImageReader(
            cache: self, coders: key.coders ?? coders, serializer: serializer, policy: policy,
            threads: ThreadPools.cpu, ticket: WorkTicket(priority: priority))
        var found: CachedImage?
        if policy.reads.contains(.diskProcessed) { found = try await reader.finished(key) }
        if found == nil, policy.reads.contains(.diskOriginal) { found = try await reader.madeOfOriginal(key) }
        guard let found else { return nil }
        if !mark.isOutdated(in: .memory) { remember(found, for: key, policy: policy) }
        return found.image
    }

    /// Returns the level at which the finished image, or else its source's bytes, would be found; memory is checked first, then
    /// the finished image on disk. The check does not extend an entry's expiration.
    public func cachedLevel(for item: some ImageKeyConvertible) async -> CacheLevel? {
        let key = key(for: item)
        if memoryCache.contains(key) { return .memory }
        var policy = CachePolicy()
        policy.memoryExtension = .none
        if key.user != nil || key.decode.decodesGainMap, keptImage(for: key, policy: policy) != nil { return .memory }
        guard let entries else { return nil }
        if await entries.contains(key.processedEntryKey) { return .diskProcessed }
        if key.decode.decodesGainMap, await peek(key, at: \.processedEntryKey, isForAll: \.isFinishedForAll) != nil {
            return .diskProcessed
        }
        if await entries.contains(key.originalEntryKey) { return .diskOriginal }
        guard key.user != nil else { return nil }
        if await entries.peek(key.of(nil).processedEntryKey)?.isFinishedForAll == true { return .diskProcessed }
        return await entries.peek(key.of(nil).originalEntryKey)?.isOriginalForAll == true ? .diskOriginal : nil
    }

    /// Returns the disk entry of a source: its bytes, their HTTP metadata, and their expiration. The look-up does not count as
    /// an access: it does not extend the entry's expiration.
    public func storedOriginal(for item: some ImageKeyConvertible) async -> CacheEntry? {
        await peek(key(for: item), at: \.originalEntryKey, isForAll: \.isOriginalForAll)
    }

    func peek(
        _ key: ImageKey, at diskKey: @Sendable (ImageKey) -> CacheKey, isForAll: @Sendable (CacheEntry) -> Bool,
        ticket: WorkTicket = WorkTicket()
    ) async -> CacheEntry? {
        await key.firstEntry(at: diskKey, isForAll: isForAll) { await entries?.peek($0, ticket: ticket) }?.entry
    }

    /// Returns the extended data that was given to `store` with an image; nil if the disk does not have the image.
    public func extendedData(for item: some ImageKeyConvertible) async -> Data? {
        let key = key(for: item)
        let entry =
            key.isProcessed
            ? await peek(key, at: \.processedEntryKey, isForAll: \.isFinishedForAll)
            : await peek(key, at: \.originalEntryKey, isForAll: \.isOriginalForAll)
        return entry?.extended
    }

    // MARK: - Storing

    /// Stores an image: in memory before this method first suspends, on disk in the background; `disk.flush()` waits for that.
    ///
    /// - Parameters:
    ///   - original: the source's bytes. The disk keeps them for an image that shows them unchanged, and in addition to a
    ///     processed image, as the input of other processors.
    ///   - levels: the levels to store to; memory and disk by default. `.diskOriginal` is the entry of the source's bytes,
    ///     `.diskProcessed` that of an image which differs from its source; `.memoryOriginal` has no effect.
    ///   - expiration: the time to keep the image; nil is each level's own time.
    ///   - extended: data that is kept on disk with the image, for `extendedData(for:)`.
    ///   - serializer: nil is the cache's own.
    /// - Throws: `ImageCacheError.preview`; errors of the serializer, including `CodecError`; `CancellationError` if the task
    ///   is cancelled before the disk has room for the image. A write that fails later is counted in `disk.statistics`.
    public func store<Item: ImageKeyConvertible>(
        _ image: Image, original: Data? = nil, for item: Item, to levels: CacheLevels = [.memory, .disk],
        expiration: StorageExpiration? = nil, extended: Data = Data(), serializer: (any CacheSerializer)? = nil
    ) async throws {
        guard !image.info.isPreview else { throw ImageCacheError.preview }
        let key = key(for: item)
        if levels.contains(.memory) {
            let cached = CachedImage(image: image, encodedBytes: original?.count ?? 0, http: nil)
            remember(cached, for: key, expiration: expiration)
        }
        guard !levels.isDisjoint(with: .disk), let entries, key.isStorable else { return }
        let writer = DiskImageWriter(
            entries: entries, key: key.storageKey(for: nil, image.info), url: Item.sourceURL(of: item), coders: coders,
            serializer: serializer ?? self.serializer,
            expiration: expiration, extended: extended, threads: ThreadPools.cpu, ticket: WorkTicket(priority: .low))
        // A store that a pipeline is still encoding is older.
        for key in key.diskKeys(at: levels) { await pendingStores.void(key)?.value }
        try await writer.store(image, original: original, at: levels)
    }

    // MARK: - Removing

    /// Removes an image, and on disk also its source's bytes and everything encoded from them for web responses. Removes the
    /// shared entries and, for a request with a credential, the entries of its user. The entries of other users stay.
    ///
    /// - Parameter levels: the levels to remove from; memory and disk by default. `.memoryOriginal` also removes the image
    ///   before its processors, which other processed images may be made from.
    public func remove(_ item: some ImageKeyConvertible, from levels: CacheLevels = [.memory, .disk]) async {
        await remove(key(for: item), levels)
    }

    func remove(_ key: ImageKey, _ levels: CacheLevels) async {
        removeFromMemory(key, levels)
        if key.user != nil { await remove(key.of(nil), levels) }
        guard !levels.isDisjoint(with: .disk) else { return }
        removals.mark(key.source)
        let keys = key.diskKeys(at: levels)
        // Stores that are still being encoded must not take effect.
        for key in keys { pendingStores.void(key) }
        await entries?.remove(keys)
        // A load that began in the meantime may have found the image in a store, and an encoding bytes that were still there.
        if !stores.isEmpty { removeFromMemory(key, levels) }
        removals.mark(key.source)
        await entries?.remove([key.encodedSealKey, key.formerSealsKey])
    }

    private func removeFromMemory(_ key: ImageKey, _ levels: CacheLevels) {
        // Loads in progress must not store it again.
        changes.add(levels.contains(.memory) ? levels.union(.memoryOriginal) : levels, for: key)
        for key in key.withAndWithoutGainMap {
            if levels.contains(.memory) { memoryCache.remove(key) }
            if levels.contains(.memoryOriginal) { memoryCache.remove(key.unprocessed) }
        }
    }

    /// Removes expired entries.
    public func removeExpired(from levels: CacheLevels = [.memory, .disk]) async {
        if !levels.isDisjoint(with: [.memory, .memoryOriginal]) { memoryCache.removeExpired() }
        if !levels.isDisjoint(with: .disk) { await disk?.removeExpired() }
    }

    /// Removes every entry of the disk level, including the partial bodies of interrupted downloads and the entries of the
    /// stores.
    public func clearDisk() async {
        removals.markAll()
        pendingStores.voidAll()
        await entries?.removeAll()
        // An encoding that began in the meantime may have read bytes that were still there.
        removals.markAll()
    }

    // MARK: - Sizes

    /// The number of bytes on disk, determined by a scan; 0 without a disk level.
    public var diskSize: Int {
        get async { await disk?.size() ?? 0 }
    }

    /// The number of entries on disk, determined by a scan; 0 without a disk level.
    public var diskCount: Int {
        get async { await disk?.count() ?? 0 }
    }
}

extension ImageKey {
    /// The keys of the image's entries at these levels on disk.
    fileprivate func diskKeys(at levels: CacheLevels) -> [CacheKey] {
        (levels.contains(.diskProcessed) ? withAndWithoutGainMap.map(\.processedEntryKey) : [])
            + (levels.contains(.diskOriginal) ? [originalEntryKey] : [])
    }
}

/// The reason why an image cannot be stored.
public enum ImageCacheError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The image is a preview, made before its whole file had arrived.
    case preview

    public var description: String {
        switch self {
        case .preview: "a preview cannot be stored: it was made before its whole file had arrived"
        }
    }
}

extension ImageCacheError: LocalizedError {
    public var errorDescription: String? { description }
}
