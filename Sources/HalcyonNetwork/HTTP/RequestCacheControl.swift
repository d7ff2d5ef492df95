/// The directives of a request's own header fields for the caches on its way, including Halcyon's own (RFC 9111, 5.2.1).
package struct RequestCacheControl: Sendable, Equatable {
    /// Whether a stored response must be revalidated before use. Also set by `Pragma` if there is no `Cache-Control` (5.4).
    package let noCache: Bool
    /// Whether the response must not be stored.
    package let noStore: Bool
    /// Whether only a stored response is acceptable.
    package let onlyIfCached: Bool
    /// The largest acceptable age in seconds.
    package let maxAge: Int?
    /// The shortest time in seconds for which the response must remain fresh.
    package let minFresh: Int?
    /// The longest acceptable time in seconds past its freshness.
    package let maxStale: Int?
    /// The longest acceptable time in seconds past its freshness if the server responds with an error, or not at all
    /// (RFC 5861, 4).
    package let staleIfError: Int?

    package init(_ headers: HTTPHeaders) {
        let lines = headers.values(of: "Cache-Control")
        let control = CacheControl(lines)
        noCache =
            control.contains("no-cache")
            || lines.isEmpty && CacheControl(headers.values(of: "Pragma")).contains("no-cache")
        noStore = control.contains("no-store")
        onlyIfCached = control.contains("only-if-cached")
        maxAge = control.seconds("max-age")
        minFresh = control.seconds("min-fresh")
        // Without a number, any staleness is acceptable.
        maxStale = control.value("max-stale") == "" ? Int.max : control.seconds("max-stale")
        staleIfError = control.seconds("stale-if-error")
    }

    /// The directives of a request without such fields.
    package static let none = RequestCacheControl(HTTPHeaders())

    /// Returns whether fields may have directives: those of most requests do not, and need no parsing.
    package static func isIn(_ headers: HTTPHeaders) -> Bool {
        headers.contains("Cache-Control") || headers.contains("Pragma")
    }

    /// Whether the request limits which freshness it accepts.
    package var isStrict: Bool { noCache || maxAge != nil || minFresh != nil }
}
