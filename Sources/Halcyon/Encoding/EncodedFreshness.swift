import Foundation
import HalcyonNetwork

/// How long an answer made of an image may be kept by who gets it: what the image's own server said, less the time that
/// has passed.
public struct EncodedFreshness: Hashable, Sendable {
    /// Seconds for which it is fresh still, 0 once it is stale; nil where the server said nothing, or there is none.
    public let maximumAge: Int?
    /// Whether nobody may keep it: the server said `no-store`, or the request did.
    public let isNotStored: Bool
    /// Whether it must be revalidated before each use.
    public let requiresRevalidation: Bool
    /// Whether it may not be used once it is stale.
    public let mustRevalidate: Bool
    /// Whether it is for one user: the server said so, or it was asked for with what identifies a user and is
    /// not for all.
    public let isPrivate: Bool

    /// Nothing is known.
    public static let unknown = EncodedFreshness(nil, isNotStored: false, isOfUser: false, now: Date())

    /// The most that is passed on: ten years.
    private static let longest = 315_360_000.0

    init(_ http: HTTPCacheMetadata?, isNotStored: Bool, isOfUser: Bool, now: Date) {
        let left = http?.freshUntil?.timeIntervalSince(now)
        maximumAge = left.map { $0.isFinite ? Int(min(max($0, 0), Self.longest)) : 0 }
        self.isNotStored = isNotStored || http?.noStore == true
        requiresRevalidation = http?.noCache == true || http?.variesOnEverything == true
        mustRevalidate = http?.mustRevalidate == true
        isPrivate = http?.isPrivate == true || (isOfUser && http?.isShared != true)
    }

    /// For `Cache-Control`; nil where there is nothing to say.
    public var cacheControl: String? {
        if isNotStored { return "no-store" }
        var words: [String] = []
        if isPrivate { words.append("private") }
        if requiresRevalidation { words.append("no-cache") }
        if let maximumAge { words.append("max-age=\(maximumAge)") }
        if mustRevalidate { words.append("must-revalidate") }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}
