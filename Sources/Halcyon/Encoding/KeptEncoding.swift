import Foundation
import HalcyonCache
import HalcyonImage
import HalcyonNetwork

/// An encoded image on the disk, and its metadata.
struct KeptEncoding: Sendable {
    /// The contents of the entry's metadata.
    private struct Stored: Codable {
        var seal: String
        var type: String
        var width: Int
        var height: Int
        var source: String?
        var http: Data?
    }

    let data: Data
    let mediaType: String
    let size: PixelSize
    /// The seal under which it was stored. The encoding counts only if this is the source's present seal, which goes
    /// when the source is removed: an image can have many encodings, and none of them is listed anywhere.
    let seal: String
    /// The hash of the source's bytes that it was made from; nil if those were not available.
    let sourceHash: String?
    var http: HTTPCacheMetadata?

    init(
        data: Data, mediaType: String, size: PixelSize, seal: String, sourceHash: String?, http: HTTPCacheMetadata?
    ) {
        self.data = data
        self.mediaType = mediaType
        self.size = size
        self.seal = seal
        self.sourceHash = sourceHash
        self.http = http
    }

    /// Reads a disk entry; nil if another version wrote the entry.
    init?(_ entry: DiskEntry) {
        guard let stored = try? JSONDecoder().decode(Stored.self, from: entry.metadata), stored.width > 0,
            stored.height > 0
        else { return nil }
        let http = stored.http.flatMap { HTTPCacheMetadata(decoding: $0) }
        // Metadata that cannot be read must not pass for missing metadata.
        if stored.http != nil, http == nil { return nil }
        self.init(
            data: entry.data, mediaType: stored.type, size: PixelSize(stored.width, stored.height), seal: stored.seal,
            sourceHash: stored.source, http: http)
    }

    var metadata: Data {
        let stored = Stored(
            seal: seal, type: mediaType, width: size.width, height: size.height, source: sourceHash,
            http: http?.encoded())
        return (try? JSONEncoder().encode(stored)) ?? Data()
    }
}

extension ImageKey {
    /// Returns the disk key of an encoding of the finished image.
    func encodedDiskKey(_ format: ImageFormat, _ options: EncodeOptions) -> DiskKey {
        var encoder = KeyEncoder()
        encoder.encode(type: "halcyon.encoded", version: 2)
        encoder.encode(nested: { encode(into: &$0) })
        encoder.encode(format.name)
        options.encode(into: &encoder)
        return DiskKey(encoder, name: "\(source)@\(DiskKey(encoder).fileName)").of(user)
    }

    /// The disk key of the source's seal, an entry without which no encoding of the source counts.
    var encodedSealKey: DiskKey {
        var encoder = KeyEncoder()
        encoder.encode(type: "halcyon.encoded.seal", version: 2)
        encoder.encode(source)
        return DiskKey(encoder, name: "\(source)@encoded").of(user)
    }
}
