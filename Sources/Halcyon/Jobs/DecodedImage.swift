import HalcyonImage
import HalcyonNetwork

/// An image on its way through the graph, with what it was made of: bytes, or the image before any processor.
struct DecodedImage: Sendable {
    var image: Image
    /// Nil where the image before any processor was in memory.
    let fetched: FetchedData?
    /// The image before any processor, where that was in memory.
    var kept: CachedImage?
    var keptRule: CacheRule?
    var decode: Duration?
    var process: Duration?

    var http: HTTPCacheMetadata? { fetched?.http ?? kept?.http }
    var encodedBytes: Int { fetched?.data.count ?? kept?.encodedBytes ?? 0 }
    var origin: ImageOrigin { fetched?.origin ?? .memory }
    var mayBeKept: Bool { fetched?.mayBeKept ?? true }

    /// Whether a cache has something newer by now.
    ///
    /// - Parameter mark: the beginning of the load, for what a cache had.
    func isOutdated(in levels: CachePolicy.Levels, since mark: SourceMark) -> Bool {
        fetched?.isOutdated(in: levels) ?? mark.isOutdated(in: levels)
    }
}
