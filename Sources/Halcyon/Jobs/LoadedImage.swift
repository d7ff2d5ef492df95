import HalcyonImage
import HalcyonNetwork

/// The origin of a load's result, and the rule by which it was used.
struct Provenance: Sendable {
    let origin: ImageOrigin
    /// The HTTP cache rule that applied; nil for a source that HTTP rules do not cover.
    let rule: CacheRule?
    /// The HTTP metadata of the encoded bytes; nil for a file or data.
    let http: HTTPCacheMetadata?
    /// The number of encoded bytes that the result was made from.
    var encodedBytes: Int
    /// Whether a cache may keep the result.
    let mayBeKept: Bool

    /// Whether the bytes may stand in for an answer that cannot be obtained (RFC 9111, 4.2.4).
    var mayBeServedStale: Bool { http?.mayBeServedStale ?? true }

    init(
        origin: ImageOrigin, rule: CacheRule? = nil, http: HTTPCacheMetadata? = nil, encodedBytes: Int = 0,
        mayBeKept: Bool = true
    ) {
        self.origin = origin
        self.rule = rule
        self.http = http
        self.encodedBytes = encodedBytes
        self.mayBeKept = mayBeKept
    }
}

/// An image on its way through the stages.
struct LoadedImage: Sendable {
    var image: Image
    let provenance: Provenance
    /// The bytes, or the provider's image, that the image was made from; nil if a cache had the image.
    let fetched: FetchedData?
    var decode: Duration?
    var process: Duration?

    init(_ image: Image, of fetched: FetchedData, decode: Duration?) {
        (self.image, self.fetched, self.decode) = (image, fetched, decode)
        provenance = fetched.provenance
    }

    /// Creates the image from a cached one.
    ///
    /// - Parameter origin: the cache that had the image; a stale answer counts as `.stale`.
    init(_ cached: CachedImage, rule: CacheRule?, origin: ImageOrigin) {
        (image, fetched) = (cached.image, nil)
        provenance = Provenance(
            origin: rule.origin(origin), rule: rule, http: cached.http,
            encodedBytes: cached.encodedBytes)
    }

    /// The image in the form that the memory cache keeps.
    var cached: CachedImage {
        CachedImage(image: image, encodedBytes: provenance.encodedBytes, http: provenance.http)
    }

    /// Whether a cache has received something newer since.
    ///
    /// - Parameter mark: the beginning of the load, used for an image that came from a cache.
    func isOutdated(in levels: CacheLevels, since mark: SourceMark) -> Bool {
        fetched?.isOutdated(in: levels) ?? mark.isOutdated(in: levels)
    }
}

extension CacheRule? {
    /// Returns the origin of a cached answer that is used by this rule: `.stale` if it is past its freshness, otherwise
    /// `cache`.
    func origin(_ cache: ImageOrigin) -> ImageOrigin { self?.isStale == true ? .stale : cache }
}
