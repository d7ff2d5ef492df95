/// A cache that could not answer a load, and why.
public struct CacheMiss: Sendable, Hashable {
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        case notThere
        /// It is there, and the server must be asked first: its time is over, or the request or the server wants that.
        case expired
        /// The server's answer, or the request, says `no-store`: nothing is ever there.
        case noStore
        /// The image is there, and smaller than asked for.
        case tooSmall
        /// It answers requests with other header fields, as `Vary` says.
        case otherFields
        /// The request's policy does not read this place.
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
    /// The reason why memory does not answer, once it is known that it does not.
    var memoryMiss: CacheMiss.Reason {
        guard cache.reads.contains(.memory) else { return .policy }
        if target.memoryCache.contains(key) {
            let kept = target.keptImage(for: key, policy: cache)
            return FreshnessCheck(self).isForTheseFields(kept?.http) ? .expired : .otherFields
        }
        guard cache.acceptsLarger, key.admitsLarger else { return .notThere }
        let isSmaller = target.sizes.keys(of: key.source).contains {
            $0.isSamePicture(as: key) && target.memoryCache.contains($0)
        }
        return isSmaller ? .tooSmall : .notThere
    }
}
