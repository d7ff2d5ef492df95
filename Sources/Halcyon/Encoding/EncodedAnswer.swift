import Foundation
import HalcyonCache
import HalcyonImage
import HalcyonNetwork

/// What an encode job ends with.
struct EncodedAnswer: Sendable {
    let data: Data
    let mediaType: String
    let size: PixelSize
    let etag: String
    let http: HTTPCacheMetadata?
    let origin: ImageOrigin
    /// Nil where the source is none of HTTP's.
    let rule: CacheRule?
    /// Whether a cache may keep it.
    let mayBeKept: Bool

    init(
        data: Data, mediaType: String, size: PixelSize, http: HTTPCacheMetadata?, origin: ImageOrigin,
        rule: CacheRule?, mayBeKept: Bool = true
    ) {
        self.data = data
        self.mediaType = mediaType
        self.size = size
        etag = "\"\(ContentHash.text(of: data))\""
        self.http = http
        self.origin = origin
        self.rule = rule
        self.mayBeKept = mayBeKept
    }

    /// What was kept, as it answers.
    init(_ kept: KeptEncoding, rule: CacheRule?, mayBeKept: Bool = true) {
        let origin: ImageOrigin = rule?.isStale == true ? .stale : rule == .revalidated ? .revalidated : .disk
        self.init(
            data: kept.data, mediaType: kept.mediaType, size: kept.size, http: kept.http, origin: origin, rule: rule,
            mayBeKept: mayBeKept)
    }
}
