import Foundation
import HalcyonCache
import HalcyonImage
import HalcyonNetwork

/// The result of an encode job.
struct EncodedAnswer: Sendable {
    let data: Data
    let mediaType: String
    let size: PixelSize
    let etag: String
    /// The provenance of the image, with the number of bytes that are sent.
    private(set) var provenance: Provenance

    init(data: Data, mediaType: String, size: PixelSize, provenance: Provenance) {
        self.data = data
        self.mediaType = mediaType
        self.size = size
        etag = "\"\(ContentHash.text(of: data))\""
        self.provenance = provenance
        self.provenance.encodedBytes = data.count
    }

    /// Creates the answer from a stored encoding.
    init(_ kept: KeptEncoding, rule: CacheRule?, mayBeKept: Bool = true) {
        let origin: ImageOrigin = rule?.isStale == true ? .stale : rule == .revalidated ? .revalidated : .disk
        self.init(
            data: kept.data, mediaType: kept.mediaType, size: kept.size,
            provenance: Provenance(
                origin: origin, rule: rule, http: kept.http, encodedBytes: kept.data.count, mayBeKept: mayBeKept))
    }
}
