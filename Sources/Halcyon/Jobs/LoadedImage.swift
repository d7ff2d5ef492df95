import HalcyonImage
import HalcyonNetwork

/// What a load job ends with.
struct LoadedImage: Sendable {
    let image: Image
    let origin: ImageOrigin
    /// Of the encoded bytes that it was made of.
    let encodedBytes: Int
    /// Nil where the finished image was in a cache.
    let fetched: FetchedData?
    /// Nil where the source is none of HTTP's.
    let rule: CacheRule?
    /// What HTTP said of it.
    let http: HTTPCacheMetadata?
    var decode: Duration?
    var process: Duration?
}

extension LoadedImage {
    /// An image that was in a cache, finished.
    init(_ answer: CachedAnswer, origin: ImageOrigin) {
        self.init(
            image: answer.cached.image, origin: answer.origin(origin), encodedBytes: answer.cached.encodedBytes,
            fetched: nil, rule: answer.rule, http: answer.cached.http)
    }
}
