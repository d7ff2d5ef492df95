import Foundation
import HalcyonCache
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork

/// An encoded image: the result of an encode job, from the disk or made anew.
struct EncodedAnswer: Sendable {
    let data: Data
    let mediaType: String
    let size: PixelSize
    let etag: String
    /// The hash of the source's bytes that it was made from; nil if those were not available.
    let sourceHash: String?
    /// The entry on disk that it was read from.
    private(set) var entry: StoredEntry?
    /// The provenance of the image, with the number of bytes that are sent.
    private(set) var provenance: Provenance

    init(
        data: Data, mediaType: String, size: PixelSize, sourceHash: String? = nil, entry: StoredEntry? = nil,
        provenance: Provenance
    ) {
        self.data = data
        self.mediaType = mediaType
        self.size = size
        etag = "\"\(ContentHash.text(of: data))\""
        (self.sourceHash, self.entry) = (sourceHash, entry)
        self.provenance = provenance
        self.provenance.encodedBytes = data.count
    }

    /// Returns the stored encoding as an answer that is used by a rule.
    ///
    /// - Parameter http: the metadata of the answer that has confirmed it, if one has.
    func used(by rule: CacheRule?, http: HTTPCacheMetadata?, mayBeKept: Bool = true) -> EncodedAnswer {
        var used = self
        used.provenance = Provenance(
            origin: rule == .revalidated ? .revalidated : rule.origin(.disk), rule: rule, http: http,
            encodedBytes: data.count, mayBeKept: mayBeKept)
        return used
    }
}

// MARK: - On disk

extension EncodedAnswer {
    /// The contents of the entry's metadata.
    private struct Stored: Codable {
        /// The seal under which it was stored. The encoding counts only if this is the source's present seal, which goes
        /// when the source is removed: an image can have many encodings, and none of them is listed anywhere.
        var seal: String
        var type: String
        var width: Int
        var height: Int
        var source: String?
        var http: Data?
    }

    /// Reads a disk entry; nil if it was stored under other seals than these, or by another version.
    init?(_ entry: CacheEntry, at key: CacheKey, seals: [String]) {
        guard let stored = try? JSONDecoder().decode(Stored.self, from: entry.metadata), seals.contains(stored.seal),
            stored.width > 0, stored.height > 0
        else { return nil }
        let http = stored.http.flatMap { HTTPCacheMetadata(decoding: $0) }
        // Metadata that cannot be read must not pass for missing metadata.
        if stored.http != nil, http == nil { return nil }
        self.init(
            data: entry.data, mediaType: stored.type, size: PixelSize(stored.width, stored.height),
            sourceHash: stored.source, entry: StoredEntry(key: key, metadata: entry.metadata),
            provenance: Provenance(origin: .disk, http: http))
    }

    /// Returns the metadata of its entry.
    func metadata(seal: String, http: HTTPCacheMetadata?) -> Data {
        let stored = Stored(
            seal: seal, type: mediaType, width: size.width, height: size.height, source: sourceHash,
            http: http?.encoded())
        return (try? JSONEncoder().encode(stored)) ?? Data()
    }
}

extension ImageKey {
    /// Returns the disk key of an encoding of the finished image.
    func encodedEntryKey(_ encoding: ImageEncoding) -> CacheKey {
        var encoder = KeyEncoder()
        encoder.encode(type: "halcyon.encoded", version: 3)
        encoder.encode(nested: { encode(into: &$0) })
        encoding.encode(into: &encoder)
        return CacheKey(encoder, name: "\(source)@\(CacheKey(encoder).fileName)").of(user, isLocal: isOfFile)
    }

    /// The disk key of the source's seal, an entry without which no encoding of the source counts.
    var encodedSealKey: CacheKey {
        var encoder = KeyEncoder()
        encoder.encode(type: "halcyon.encoded.seal", version: 2)
        encoder.encode(source)
        return CacheKey(encoder, name: "\(source)@encoded").of(user, isLocal: isOfFile)
    }

    /// The disk key of the source's former seals, an entry that says something of this machine's disk alone.
    var formerSealsKey: CacheKey {
        var encoder = KeyEncoder()
        encoder.encode(type: "halcyon.encoded.seals", version: 1)
        encoder.encode(source)
        return CacheKey(encoder, name: "\(source)@former").of(user, isLocal: true)
    }
}
