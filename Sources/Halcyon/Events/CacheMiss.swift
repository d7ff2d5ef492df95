/// A cache that could not answer a load, and the reason.
public struct CacheMiss: Sendable, Hashable {
    /// The reason why a cache could not answer.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The cache has no entry for the image, or one that cannot be read.
        case notFound
        /// The entry must be revalidated first: it is past its freshness, or the request or the server requires
        /// revalidation.
        case expired
        /// The server's answer, or the request, says `no-store`: such an entry is never stored.
        case noStore
        /// The cached image is smaller than requested.
        case tooSmall
        /// The entry answers requests with other header fields, according to `Vary`.
        case varyMismatch
        /// The request's policy does not read this cache.
        case policy
    }

    /// The level of the cache that could not answer, or was not asked.
    public let level: CacheLevel
    /// The reason why it could not answer.
    public let reason: Reason

    /// Creates a miss from its level and its reason.
    public init(_ level: CacheLevel, _ reason: Reason) {
        self.level = level
        self.reason = reason
    }
}

extension ResolvedRequest {
    /// The reason for a miss in memory, once it is known that there is one.
    var memoryMiss: CacheMiss.Reason {
        guard cachePolicy.reads.contains(.memory) else { return .policy }
        if target.memoryCache.contains(key) {
            let kept = target.keptImage(for: key, policy: cachePolicy)
            return FreshnessCheck(self).matchesVaryingFields(kept?.http) ? .expired : .varyMismatch
        }
        guard cachePolicy.acceptsLarger, key.admitsLarger else { return .notFound }
        let isSmaller = target.sizes.keys(of: key.source, in: target.memoryCache).contains {
            $0.isSamePicture(as: key) && target.memoryCache.contains($0)
        }
        return isSmaller ? .tooSmall : .notFound
    }
}
