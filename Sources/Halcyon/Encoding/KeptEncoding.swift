import Foundation
import HalcyonCache
import HalcyonImage
import HalcyonNetwork

/// An encoded image on the disk, and what is kept beside it.
struct KeptEncoding: Sendable {
    /// What stands in the entry's metadata.
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
    /// Must be that of the source's seal, which goes when the source is removed: the encodings of an image are many, and
    /// none of them is listed anywhere.
    let seal: String
    /// Of the source's bytes that it was made of; nil where they were not at hand.
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

    /// Nil where the entry was written by another version.
    init?(_ entry: DiskEntry) {
        guard let stored = try? JSONDecoder().decode(Stored.self, from: entry.metadata), stored.width > 0,
            stored.height > 0
        else { return nil }
        let http = stored.http.flatMap { HTTPCacheMetadata(decoding: $0) }
        // What cannot be read says that something was there.
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
    /// Names an encoding of the finished image on disk.
    func encodedDiskKey(_ format: ImageFormat, _ options: EncodeOptions) -> DiskKey {
        var encoder = KeyEncoder()
        encoder.encode(type: "halcyon.encoded", version: 2)
        encoder.encode(nested: { encode(into: &$0) })
        encoder.encode(format.name)
        options.encode(into: &encoder)
        return DiskKey(encoder, name: "\(source)@\(DiskKey(encoder).fileName)").of(user)
    }

    /// Names the entry without which no encoding of the source counts.
    var encodedSealKey: DiskKey {
        var encoder = KeyEncoder()
        encoder.encode(type: "halcyon.encoded.seal", version: 2)
        encoder.encode(source)
        return DiskKey(encoder, name: "\(source)@encoded").of(user)
    }
}
