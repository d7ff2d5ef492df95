/// What a request's own header fields ask of the caches on its way, ours among them (RFC 9111, 5.2.1).
package struct RequestCacheControl: Sendable, Equatable {
    /// Nothing that is stored without the server's word. Also by `Pragma`, where there is no `Cache-Control` (5.4).
    package let noCache: Bool
    /// The answer is not stored.
    package let noStore: Bool
    /// What is stored or nothing.
    package let onlyIfCached: Bool
    /// The most seconds of age.
    package let maxAge: Int?
    /// The least seconds for which it is to stay fresh.
    package let minFresh: Int?
    /// The most seconds past its freshness.
    package let maxStale: Int?
    /// The same where the server answers with an error, or not at all (RFC 5861, 4).
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
        // Without seconds any staleness will do.
        maxStale = control.value("max-stale") == "" ? Int.max : control.seconds("max-stale")
        staleIfError = control.seconds("stale-if-error")
    }

    /// No field of a request asks anything.
    package static let none = RequestCacheControl(HTTPHeaders())

    /// Whether fields can ask anything: most requests' do not, and need no parser.
    package static func isIn(_ headers: HTTPHeaders) -> Bool {
        headers.contains("Cache-Control") || headers.contains("Pragma")
    }

    /// Whether the request bounds what freshness it accepts.
    package var isStrict: Bool { noCache || maxAge != nil || minFresh != nil }
}
