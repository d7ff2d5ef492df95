/// A cache that could not answer a load, and the reason.
public struct CacheMiss: Sendable, Hashable {
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        case notThere
        /// The entry must be revalidated first: it is past its freshness, or the request or the server requires
        /// revalidation.
        case expired
        /// The server's answer, or the request, says `no-store`: such an entry is never stored.
        case noStore
        /// The cached image is smaller than requested.
        case tooSmall
        /// The entry answers requests with other header fields, according to `Vary`.
        case otherFields
        /// The request's policy does not read this cache.
        case policy
    }

    public let place: CachePlace
    public let reason: Reason

    public init(_ place: CachePlace, _ reason: Reason) {
        self.place = place
        self.reason = reason
    }
}

extension ResolvedRequest {
    /// The reason for a miss in memory, once it is known that there is one.
    var memoryMiss: CacheMiss.Reason {
        guard cache.reads.contains(.memory) else { return .policy }
        if target.memoryCache.contains(key) {
            let kept = target.keptImage(for: key, policy: cache)
            return FreshnessCheck(self).isForTheseFields(kept?.http) ? .expired : .otherFields
        }
        guard cache.acceptsLarger, key.admitsLarger else { return .notThere }
        let isSmaller = target.sizes.keys(of: key.source, in: target.memoryCache).contains {
            $0.isSamePicture(as: key) && target.memoryCache.contains($0)
        }
        return isSmaller ? .tooSmall : .notThere
    }
}

/// A cache level, and the form in which it has an image.
public enum CachePlace: String, Sendable, Hashable, CaseIterable {
    /// The finished image in memory.
    case memory
    /// The finished image on disk.
    case diskProcessed
    /// The source's bytes on disk.
    case diskOriginal
    /// The image on disk, encoded for a web response.
    case diskEncoded
}
