import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonSystem

/// Puts an image, and its source's bytes, on disk as a serializer writes them.
struct DiskImageWriter {
    let disk: DiskCache
    let key: ImageKey
    let url: URL?
    let coders: CoderRegistry
    let serializer: any CacheSerializer
    let expiration: StorageExpiration?
    var extended = Data()
    /// Of the encoding.
    let ticket: WorkTicket
    /// Whether nothing newer has come meanwhile, and nobody has removed it.
    var isWanted: @Sendable () -> Bool = { true }

    /// The image in its own place, the bytes in the source's.
    func store(_ image: Image, original: Data?) async throws {
        if key.isProcessed {
            try await storeFinished(image, http: nil)
            if let original { try await storeOriginal(original, of: nil, http: nil) }
        } else if key.showsAllOfItsSource {
            try await storeOriginal(original, of: image, http: nil)
        } else if let original {
            // The image shows less than the source has.
            try await storeOriginal(original, of: nil, http: nil)
        }
    }

    /// A processed image in its own place.
    ///
    /// - Throws: what the serializer throws; `CancellationError`.
    func storeFinished(_ image: Image, http: HTTPCacheMetadata?) async throws {
        let metadata = FinishedImage(info: image.info, http: http).encoded
        try await stage(metadata: metadata, key: key.processedDiskKey) {
            try await serialized(image, original: nil, isProcessed: true)
        }
    }

    /// A source's bytes in its place.
    ///
    /// - Parameter image: what shows all of them; nil where the image shows less.
    /// - Throws: what the serializer throws; `CancellationError`.
    func storeOriginal(_ bytes: Data?, of image: Image?, http: HTTPCacheMetadata?) async throws {
        try await stage(metadata: http?.encoded() ?? Data(), key: key.originalDiskKey) {
            if let image { return try await serialized(image, original: bytes) }
            guard let bytes else { return nil }
            return try await ExecutionDomains.cpu.run(ticket: ticket) { [serializer, url] _ in
                try serializer.data(forOriginal: bytes, url: url)
            }
        }
    }

    private func serialized(_ image: Image, original: Data?, isProcessed: Bool = false) async throws -> Data? {
        let input = CacheSerializerInput(
            image: image, original: original, isProcessed: isProcessed, url: url, coders: coders)
        return try await ExecutionDomains.cpu.run(ticket: ticket) { [serializer] context in
            try serializer.data(for: input, context: context)
        }
    }

    /// Hands an entry to the disk. What was there before is older, and goes where this cannot be kept.
    private func stage(metadata: Data, key: DiskKey, _ make: () async throws -> Data?) async throws {
        let data: Data?
        do {
            data = try await make()
        } catch {
            if !(error is CancellationError) { await disk.remove(key) }
            throw error
        }
        guard let data, isWanted() else { return await disk.remove(key) }
        await disk.stage(data, metadata: metadata, extended: extended, for: key, expiration: expiration)
        // It may have waited long for room.
        if !isWanted() { await disk.remove(key) }
        try Task.checkCancellation()
    }
}
