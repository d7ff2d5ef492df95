import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonSystem

/// Writes an image and its source's bytes to the disk, as a serializer encodes them.
struct DiskImageWriter {
    let entries: CacheStoreChain
    let key: ImageKey
    let url: URL?
    let coders: CoderRegistry
    let serializer: any CacheSerializer
    let expiration: StorageExpiration?
    var extended = Data()
    /// The claim of this process to make the entry, which ends once the stores have it.
    var claim: CacheClaimToken?
    /// The threads and the ticket of the encoding.
    let threads: ThreadPool
    let ticket: WorkTicket
    /// Whether the store is still wanted: nothing newer was stored in the meantime, and the entry was not removed.
    var isWanted: @Sendable () -> Bool = { true }

    /// Stores the image in its own entry and the bytes in the source's entry, as far as the levels contain them.
    func store(_ image: Image, original: Data?, at levels: CacheLevels) async throws {
        if key.isProcessed, levels.contains(.diskProcessed) { try await storeFinished(image, http: nil) }
        guard levels.contains(.diskOriginal) else { return }
        if key.isProcessed {
            if let original { try await storeOriginal(original, of: nil, http: nil) }
        } else if key.showsAllOfItsSource {
            try await storeOriginal(original, of: image, http: nil)
        } else if let original {
            // The image shows less than its source has.
            try await storeOriginal(original, of: nil, http: nil)
        }
    }

    /// Stores a processed image in its own entry.
    ///
    /// - Throws: errors of the serializer; `CancellationError`.
    func storeFinished(_ image: Image, http: HTTPCacheMetadata?) async throws {
        let metadata = image.finishedMetadata(http)
        try await stage(metadata: metadata, key: key.processedEntryKey, reach: http.reach) {
            try await serialized(image, original: nil, isProcessed: true)
        }
    }

    /// Stores a source's bytes in its entry.
    ///
    /// - Parameter image: the image that shows the whole source; nil if the image shows less.
    /// - Throws: errors of the serializer; `CancellationError`.
    func storeOriginal(_ bytes: Data?, of image: Image?, http: HTTPCacheMetadata?) async throws {
        try await stage(metadata: http?.encoded() ?? Data(), key: key.originalEntryKey, reach: http.reach) {
            if let image { return try await serialized(image, original: bytes) }
            guard let bytes else { return nil }
            return try await threads.run(ticket: ticket) { [serializer, url] _ in
                try serializer.data(forOriginal: bytes, url: url)
            }
        }
    }

    private func serialized(_ image: Image, original: Data?, isProcessed: Bool = false) async throws -> Data? {
        let input = CacheSerializerInput(
            image: image, original: original, isProcessed: isProcessed,
            hasReadableName: entries.disk?.configuration.usesHashedFileName == false, url: url, coders: coders)
        return try await threads.run(ticket: ticket) { [serializer] context in
            try serializer.data(for: input, context: context)
        }
    }

    /// Stages an entry on the disk. The previous entry is outdated, and is removed if the new one cannot be stored.
    private func stage(
        metadata: Data, key: CacheKey, reach: CacheStoreChain.Reach, _ make: () async throws -> Data?
    ) async throws {
        let data: Data?
        do {
            data = try await make()
        } catch {
            if !(error is CancellationError) { await entries.forget(key) }
            throw error
        }
        guard let data, isWanted() else { return await entries.forget(key) }
        await entries.stage(
            data, metadata: metadata, extended: extended, for: key, expiration: expiration, reach: reach, claim: claim,
            isWanted: isWanted)
        // The staging may have waited a long time for room.
        if !isWanted() { await entries.forget(key) }
        try Task.checkCancellation()
    }
}
