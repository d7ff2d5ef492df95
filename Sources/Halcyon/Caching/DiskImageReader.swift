import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonSystem

/// Makes images of what a cache's disk holds.
struct DiskImageReader {
    let cache: ImageCache
    let coders: CoderRegistry
    let serializer: any CacheSerializer
    let policy: CachePolicy
    let ticket: WorkTicket

    /// The finished image in its own place. Bytes that are no image are removed; what a limit refuses is a miss, since the
    /// image can be made anew.
    ///
    /// - Throws: `CancellationError`.
    func finished(_ key: ImageKey) async throws -> CachedImage? {
        guard key.isProcessed, key.isStorable, let (entry, place) = await finishedEntry(key),
            let stored = FinishedImage(entry)
        else { return nil }
        try Task.checkCancellation()
        let options = key.finishedOptions
        do {
            let pixels = try await decoded(try await bytes(of: entry), options: options)
            return CachedImage(image: stored.image(pixels), encodedBytes: entry.data.count, http: stored.http)
        } catch let error as CodecError {
            if error.blamesBytes { await cache.disk?.remove(place) }
            return nil
        }
    }

    /// The image made of its source's bytes. Bytes that are no image are removed.
    ///
    /// - Throws: `CodecError` where a limit refuses; what a processor throws; `CancellationError`.
    func madeOfOriginal(_ key: ImageKey) async throws -> CachedImage? {
        guard let (entry, place) = await originalEntry(key) else { return nil }
        try Task.checkCancellation()
        let (options, processors) = key.steps
        let (data, unprocessed): (Data, Image)
        do {
            data = try await bytes(of: entry)
            unprocessed = try await decoded(data, options: options)
        } catch let error as CodecError where error.blamesBytes {
            await cache.disk?.remove(place)
            return nil
        }
        var image = unprocessed
        // Whatever a processor says, it says nothing of these bytes.
        if !processors.isEmpty {
            image = try await ExecutionDomains.cpu.run(ticket: ticket) { context in
                try processors.process(unprocessed, context: context)
            }
        }
        return CachedImage(image: image, encodedBytes: data.count, http: HTTPCacheMetadata(decoding: entry.metadata))
    }

    /// The source's bytes for a key, and where they are.
    func originalEntry(_ key: ImageKey) async -> (entry: DiskEntry, place: DiskKey)? {
        await key.firstEntry(at: \.originalDiskKey, isForAll: \.isOriginalForAll, entry)
    }

    private func finishedEntry(_ key: ImageKey) async -> (entry: DiskEntry, place: DiskKey)? {
        await key.firstEntry(at: \.processedDiskKey, isForAll: \.isFinishedForAll, entry)
    }

    private func entry(_ key: DiskKey) async -> DiskEntry? {
        await cache.disk?.entry(for: key, extending: policy.diskExtension, ticket: ticket)
    }

    /// The encoded image in an entry.
    ///
    /// - Throws: `CodecError.notAnImage` where the serializer does not know it.
    func bytes(of entry: DiskEntry) async throws -> Data {
        // Nothing to do for the usual ones, and no change of threads for it.
        if serializer.keepsImagesReadable { return entry.data }
        return try await ExecutionDomains.cpu.run(ticket: ticket) { [serializer] _ in
            try serializer.readableImage(in: entry.data)
        }
    }

    private func decoded(_ data: Data, options: DecodeOptions) async throws -> Image {
        let plan = try await ExecutionDomains.cpu.run(ticket: ticket) { [coders] _ in
            try coders.plan(data, options: options)
        }
        try coders.budget.check(plan.workingBytes)
        return try await ExecutionDomains.cpu.run(
            ticket: ticket, reserving: plan.workingBytes, of: coders.budget.bytes
        ) { [coders] in try coders.decode(data, plan: plan, context: $0) }
    }
}

extension DiskImageReader {
    init(_ cache: ImageCache, _ resolved: ResolvedRequest, ticket: WorkTicket) {
        self.init(
            cache: cache, coders: resolved.coordinator.configuration.coders, serializer: resolved.serializer,
            policy: resolved.cache, ticket: ticket)
    }
}

extension ImageKey {
    /// The entry in the user's own place, else the one that is kept for all users.
    func firstEntry(
        at place: (ImageKey) -> DiskKey, isForAll: (DiskEntry) -> Bool, _ entry: (DiskKey) async -> DiskEntry?
    ) async -> (entry: DiskEntry, place: DiskKey)? {
        let own = place(self)
        if let found = await entry(own) { return (found, own) }
        guard user != nil, case let everybodys = place(of(nil)), let found = await entry(everybodys), isForAll(found)
        else { return nil }
        return (found, everybodys)
    }

    /// The same on the caller's thread.
    func firstEntrySynchronously(
        at place: (ImageKey) -> DiskKey, isForAll: (DiskEntry) -> Bool, _ entry: (DiskKey) -> DiskEntry?
    ) -> DiskEntry? {
        if let found = entry(place(self)) { return found }
        guard user != nil, let found = entry(place(of(nil))), isForAll(found) else { return nil }
        return found
    }
}

/// Whether what lies in everybody's place may answer a request for which its user's own place has nothing.
extension DiskEntry {
    /// Without metadata the program has put it there itself; with some that cannot be read nobody knows.
    var isOriginalForAll: Bool { metadata.isEmpty || HTTPCacheMetadata(decoding: metadata)?.isShared == true }

    var isFinishedForAll: Bool { FinishedImage(self).map { ImageKey.isForAll($0.http) } ?? false }

    var isEncodingForAll: Bool { KeptEncoding(self).map { ImageKey.isForAll($0.http) } ?? false }
}

extension CacheSerializer {
    /// Whether what it keeps is an encoded image as it is.
    var keepsImagesReadable: Bool { self is DefaultCacheSerializer || self is FixedFormatCacheSerializer }

    /// - Throws: `CodecError.notAnImage` for whatever went wrong.
    func readableImage(in stored: Data) throws -> Data {
        do {
            return try encodedImage(in: stored)
        } catch {
            throw CodecError.notAnImage("bytes that the cache's serializer cannot read: \(error)")
        }
    }
}

extension CodecError {
    /// Whether other bytes for the same request might decode: not where a limit or a missing codec refused.
    var blamesBytes: Bool {
        switch self {
        case .damaged, .notAnImage: true
        default: false
        }
    }
}
