import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonSystem

/// Makes images from the entries of a cache's disk level.
struct DiskImageReader {
    let cache: ImageCache
    let coders: CoderRegistry
    let serializer: any CacheSerializer
    let policy: CachePolicy
    let threads: ThreadPool
    let ticket: WorkTicket
    /// The place that is looked through.
    var place = CacheStoreChain.Place.everywhere

    /// Returns the finished image from its own entry. Bytes that are not an image are removed. An image that exceeds a limit is
    /// a miss, since it can be made again from its source.
    func finished(_ key: ImageKey) async throws -> CachedImage? {
        guard key.isProcessed, key.isStorable, let (entry, diskKey) = await finishedEntry(key),
            let facts = entry.finishedImage
        else { return nil }
        try Task.checkCancellation()
        let options = key.finishedOptions
        do {
            let data = try await bytes(of: entry)
            let pixels: Image
            if let stored = try StoredBitmap(data, limits: options.limits) {
                pixels = try await image(of: stored)
            } else {
                pixels = try await decoded(data, options: options)
            }
            return facts.cachedImage(pixels, for: key, encodedBytes: entry.data.count)
        } catch let error as CodecError {
            if error.blamesBytes { await cache.entries?.forget(diskKey) }
            return nil
        }
    }

    /// Returns the image made from its source's bytes. Bytes that are not an image are removed.
    ///
    /// - Throws: `CodecError` if a limit is exceeded; errors of a processor; `CancellationError`.
    func madeOfOriginal(_ key: ImageKey) async throws -> CachedImage? {
        guard let (entry, diskKey) = await originalEntry(key) else { return nil }
        try Task.checkCancellation()
        let (options, processors) = key.steps
        let (data, unprocessed): (Data, Image)
        do {
            data = try await bytes(of: entry)
            unprocessed = try await decoded(data, options: options)
        } catch let error as CodecError where error.blamesBytes {
            await cache.entries?.forget(diskKey)
            return nil
        }
        var image = unprocessed
        // An error of a processor says nothing about these bytes, which therefore stay.
        if !processors.isEmpty {
            image = try await threads.run(ticket: ticket) { context in
                try processors.process(unprocessed, context: context)
            }
        }
        return CachedImage(image: image, encodedBytes: data.count, http: HTTPCacheMetadata(decoding: entry.metadata))
    }

    /// Returns the entry with the source's bytes for a key, and the key under which it was found.
    func originalEntry(_ key: ImageKey) async -> (entry: CacheEntry, diskKey: CacheKey)? {
        await key.firstEntry(at: \.originalEntryKey, isForAll: \.isOriginalForAll, entry)
    }

    private func finishedEntry(_ key: ImageKey) async -> (entry: CacheEntry, diskKey: CacheKey)? {
        await key.firstEntry(at: \.processedEntryKey, isForAll: \.isFinishedForAll, entry)
    }

    private func entry(_ key: CacheKey) async -> CacheEntry? {
        await cache.entries?.entry(for: key, in: place, extending: policy.diskExtension, ticket: ticket)
    }

    /// Returns the encoded image in an entry.
    ///
    /// - Throws: `CodecError.notAnImage` if the serializer cannot read the entry.
    func bytes(of entry: CacheEntry) async throws -> Data {
        // The built-in serializers need no conversion, and so no switch to another thread.
        if serializer.keepsImagesReadable { return entry.data }
        return try await threads.run(ticket: ticket) { [serializer] _ in
            try serializer.readableImage(in: entry.data)
        }
    }

    private func image(of stored: StoredBitmap) async throws -> Image {
        try coders.budget.check(stored.workingBytes)
        return try await threads.run(
            ticket: ticket, reserving: stored.workingBytes, of: coders.budget.bytes
        ) { _ in try stored.image() }
    }

    private func decoded(_ data: Data, options: DecodeOptions) async throws -> Image {
        let plan = try await threads.run(ticket: ticket) { [coders] in
            try coders.plan(data, options: options, context: $0)
        }
        try coders.budget.check(plan.workingBytes)
        return try await threads.run(
            ticket: ticket, reserving: plan.workingBytes, of: coders.budget.bytes
        ) { [coders] in try coders.decode(data, plan: plan, context: $0) }
    }
}

extension DiskImageReader {
    init(_ cache: ImageCache, _ resolved: ResolvedRequest, ticket: WorkTicket) {
        self.init(
            cache: cache, coders: resolved.coordinator.configuration.coders, serializer: resolved.serializer,
            policy: resolved.cachePolicy, threads: resolved.coordinator.threads, ticket: ticket)
    }
}

extension ImageKey {
    /// Returns the user's own entry, or else the entry that is shared by all users.
    func firstEntry(
        at diskKey: (ImageKey) -> CacheKey, isForAll: (CacheEntry) -> Bool, _ entry: (CacheKey) async -> CacheEntry?
    ) async -> (entry: CacheEntry, diskKey: CacheKey)? {
        let own = diskKey(self)
        if let found = await entry(own) { return (found, own) }
        if user != nil, case let shared = diskKey(of(nil)), let found = await entry(shared), isForAll(found) {
            return (found, shared)
        }
        guard let plain = keyWithoutGainMap(at: diskKey),
            let found = await plain.firstEntry(at: diskKey, isForAll: isForAll, entry), found.entry.hasNoGainMap
        else { return nil }
        return found
    }

    /// Does the same as `firstEntry`, on the caller's thread.
    func firstEntrySynchronously(
        at diskKey: (ImageKey) -> CacheKey, isForAll: (CacheEntry) -> Bool, _ entry: (CacheKey) -> CacheEntry?
    ) -> CacheEntry? {
        if let found = entry(diskKey(self)) { return found }
        if user != nil, let found = entry(diskKey(of(nil))), isForAll(found) { return found }
        guard let plain = keyWithoutGainMap(at: diskKey),
            let found = plain.firstEntrySynchronously(at: diskKey, isForAll: isForAll, entry), found.hasNoGainMap
        else { return nil }
        return found
    }

    /// Returns the key under which the image of a source without a gain map is stored; nil if it is this one.
    private func keyWithoutGainMap(at diskKey: (ImageKey) -> CacheKey) -> ImageKey? {
        guard decode.decodesGainMap else { return nil }
        let plain = withGainMap(false)
        return diskKey(plain) == diskKey(self) ? nil : plain
    }
}

/// Whether a shared entry may answer a request whose user has no entry of their own.
extension CacheEntry {
    /// An entry without metadata was stored by the program itself. An entry with unreadable metadata may be private.
    var isOriginalForAll: Bool { metadata.isEmpty || HTTPCacheMetadata(decoding: metadata)?.isShared == true }

    var hasNoGainMap: Bool { finishedImage?.info.hasReadableGainMap == false }

    var isFinishedForAll: Bool { finishedImage.map { ImageKey.isForAll($0.http) } ?? false }
}

extension CacheSerializer {
    /// Whether it stores encoded images as they are.
    var keepsImagesReadable: Bool { self is DefaultCacheSerializer || self is FixedFormatCacheSerializer }

    /// Returns the encoded image in stored bytes.
    ///
    /// - Throws: `CodecError.notAnImage` for every error of the serializer.
    func readableImage(in stored: Data) throws -> Data {
        do {
            return try encodedImage(in: stored)
        } catch {
            throw CodecError.notAnImage("bytes that the cache's serializer cannot read: \(error)")
        }
    }
}

extension CodecError {
    /// Whether other bytes for the same request might decode: false if a limit or a missing codec caused the error.
    var blamesBytes: Bool {
        switch self {
        case .damaged, .notAnImage: true
        case .stopped(_, let stop): !stop.mayBeForeign
        default: false
        }
    }
}
