/// An image of a cache that may answer a request, and the rule that says so.
struct CachedAnswer {
    let cached: CachedImage
    /// Nil where the source is none of HTTP's.
    let rule: CacheRule?

    /// Where it comes from, as a response tells it.
    func origin(_ place: ImageOrigin) -> ImageOrigin { rule?.isStale == true ? .stale : place }
}
