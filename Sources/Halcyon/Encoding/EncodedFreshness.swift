import Foundation
import HalcyonNetwork

/// The freshness of a response that is made from an image, for its recipient: the freshness that the image's own server
/// declared, less the time that has passed.
public struct EncodedFreshness: Hashable, Sendable {
    /// The remaining freshness in seconds, 0 once it is stale; nil if the server declared none, or there is no server.
    public let maximumAge: Int?
    /// Whether the response must not be stored: the server or the request said `no-store`.
    public let isNotStored: Bool
    /// Whether the response must be revalidated before each use.
    public let requiresRevalidation: Bool
    /// Whether the response must not be used once it is stale.
    public let mustRevalidate: Bool
    /// Whether the response is for one user: the server said so, or the request identified a user and the server did
    /// not declare the response to be for all users.
    public let isPrivate: Bool

    /// The freshness of a response about which nothing is known.
    public static let unknown = EncodedFreshness(nil, isNotStored: false, isOfUser: false, now: Date())

    /// The longest freshness that is passed on, in seconds: ten years.
    private static let longest = 315_360_000.0

    init(_ http: HTTPCacheMetadata?, isNotStored: Bool, isOfUser: Bool, now: Date) {
        let left = http?.freshUntil?.timeIntervalSince(now)
        maximumAge = left.map { $0.isFinite ? Int(min(max($0, 0), Self.longest)) : 0 }
        self.isNotStored = isNotStored || http?.noStore == true
        requiresRevalidation = http?.noCache == true || http?.variesOnEverything == true
        mustRevalidate = http?.mustRevalidate == true
        isPrivate = http?.isPrivate == true || (isOfUser && http?.isShared != true)
    }

    /// The value of the `Cache-Control` field; nil if there are no directives.
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
