import Halcyon

extension HTTPCacheCase {
    private static let modified = "Tue, 14 Nov 2023 22:00:00 GMT"

    private static func checked(
        _ section: String, _ what: String, _ first: HTTPHeaders, sends: HTTPHeaders, _ answer: Answer,
        count: Int? = nil, _ delivers: Delivery, _ rule: CacheRule
    ) -> HTTPCacheCase {
        HTTPCacheCase(
            section: section, what: what, first: first.merging(["Cache-Control": "max-age=60"]), after: 60,
            answer: answer, sends: sends, count: count, delivers: delivers, rule: rule)
    }

    static let validation: [HTTPCacheCase] = [
        checked(
            "9111 4.3.1", "an entity tag", ["ETag": "\"one\""], sends: ["If-None-Match": "\"one\""], .notModified([:]),
            .revalidated, .revalidated),
        checked(
            "9111 4.3.1", "a date", ["Last-Modified": modified], sends: ["If-Modified-Since": modified],
            .notModified([:]), .revalidated, .revalidated),
        checked(
            "9111 4.3.1", "both", ["ETag": "\"one\"", "Last-Modified": modified],
            sends: ["If-None-Match": "\"one\"", "If-Modified-Since": modified], .notModified([:]), .revalidated,
            .revalidated),
        checked("9111 4.3.1", "none", [:], sends: [:], .changed([:]), .network, .replaced),
        checked(
            "9111 4.3.3", "a new image", ["ETag": "\"one\""], sends: ["If-None-Match": "\"one\""],
            .changed(["ETag": "\"two\""]), .network, .replaced),
        checked(
            "9111 4.3.3", "a new image that is not to be kept", ["ETag": "\"one\""],
            sends: ["If-None-Match": "\"one\""], .changed(["Cache-Control": "no-store"]), .network,
            .notStored(.noStore)),
        checked(
            "9111 4.3.4", "the same entity tag", ["ETag": "\"one\""], sends: ["If-None-Match": "\"one\""],
            .notModified(["ETag": "\"one\""]), .revalidated, .revalidated),
        checked(
            "9111 4.3.4", "the same tag, now weak", ["ETag": "\"one\""], sends: ["If-None-Match": "\"one\""],
            .notModified(["ETag": "W/\"one\""]), .revalidated, .revalidated),
        checked(
            "9111 4.3.4", "another tag: asked again without validators", ["ETag": "\"one\""],
            sends: ["If-None-Match": "\"one\""], .notModified(["ETag": "\"other\""]), count: 2, .network, .replaced),
        checked(
            "9111 4.3.4", "another date: asked again without validators", ["Last-Modified": modified],
            sends: ["If-Modified-Since": modified], .notModified(["Last-Modified": "Tue, 14 Nov 2023 23:00:00 GMT"]),
            count: 2, .network, .replaced),
        checked(
            "9111 3.2", "a tag that is not ASCII", ["ETag": "\"é\""], sends: ["If-None-Match": "\"é\""],
            .notModified(["ETag": "\"é\"", "X-Name": "ü"]), .revalidated, .revalidated),
    ]

    static let whole: [HTTPCacheCase] = [
        HTTPCacheCase(
            section: "9111 4.1", what: "Vary, the same field", first: ["Vary": "X-A", "Cache-Control": "max-age=60"],
            firstRequest: ["X-A": "1"], after: 59, request: ["x-a": "1"], delivers: .cache, rule: .fresh),
        HTTPCacheCase(
            section: "9111 4.1", what: "Vary, another field",
            first: ["Vary": "X-A", "Cache-Control": "max-age=60", "ETag": "\"one\""], firstRequest: ["X-A": "1"],
            request: ["X-A": "2"], sends: ["X-A": "2"], delivers: .network, rule: .stored),
        HTTPCacheCase(
            section: "9111 4.1", what: "Vary, the field is absent in both",
            first: ["Vary": "X-A", "Cache-Control": "max-age=60"], after: 59, delivers: .cache, rule: .fresh),
        HTTPCacheCase(
            section: "9111 4.1", what: "Vary: *", first: ["Vary": "*", "Cache-Control": "max-age=60"], sends: [:],
            delivers: .network, rule: .stored),
        HTTPCacheCase(
            section: "9111 4", what: "the request's policy ignores age",
            first: ["Cache-Control": "max-age=60, no-cache"], after: 200, freshness: .ignore, delivers: .cache,
            rule: .ignored),
        HTTPCacheCase(
            section: "9111 4", what: "the request's policy has the server asked",
            first: ["Cache-Control": "max-age=60", "ETag": "\"one\""], freshness: .revalidate,
            answer: .notModified([:]),
            sends: ["If-None-Match": "\"one\""], delivers: .revalidated, rule: .revalidated),
        HTTPCacheCase(
            section: "9111 4.2.4", what: "no network allowed", first: ["Cache-Control": "max-age=60"], after: 61,
            allowsNetwork: false, delivers: .stale, rule: .staleOffline),
    ]

    static let staleness: [HTTPCacheCase] = [
        behind("the last second", after: 90),
        asked("5861 3", "past its seconds", "max-age=60, stale-while-revalidate=30", after: 91),
        asked("5861 3", "not with no-cache", "no-cache, stale-while-revalidate=30"),
        asked(
            "5861 3", "not where the request bounds the age", "max-age=60, stale-while-revalidate=30", after: 61,
            asking: ["Cache-Control": "max-age=30"]),
        behind("as soon as it is stale", after: 60),
        asked("5861 3", "seconds that are no number", "max-age=60, stale-while-revalidate=x", after: 61),
    ]

    private static func behind(_ what: String, after: Double) -> HTTPCacheCase {
        HTTPCacheCase(
            section: "5861 3", what: what,
            first: ["Cache-Control": "max-age=60, stale-while-revalidate=30", "ETag": "\"one\""], after: after,
            answer: .notModified([:]), sends: ["If-None-Match": "\"one\""], delivers: .stale,
            rule: .staleWhileRevalidate)
    }

    static let failures: [HTTPCacheCase] = [
        failing("9111 4.2.4", "no answer", "", after: 1, .offline, .stale, .staleOffline),
        failing(
            "9111 5.2.2.2", "no answer, must-revalidate", ", must-revalidate", after: 1, .offline, .error("offline")),
        failing("9111 5.2.2.4", "no answer, no-cache", ", no-cache", after: 1, .offline, .error("offline")),
        failing(
            "9111 5.2.1.4", "no answer, the request's no-cache", "", after: 1, .offline,
            asking: ["Cache-Control": "no-cache"], .error("offline")),
        failing("9111 4.3.3", "500 without stale-if-error", "", after: 1, .status(500), .error("httpStatus")),
        failing("5861 4", "500", ", stale-if-error=30", after: 30, .status(500), .stale, .staleIfError),
        failing("5861 4", "503", ", stale-if-error=30", after: 30, .status(503), count: 3, .stale, .staleIfError),
        failing("5861 4", "no answer", ", stale-if-error=30", after: 30, .offline, .stale, .staleIfError),
        failing("5861 4", "500 past its seconds", ", stale-if-error=30", after: 31, .status(500), .error("httpStatus")),
        failing(
            "5861 4", "no answer past its seconds", ", stale-if-error=30", after: 31, .offline, .error("offline")),
        failing("5861 4", "404 is an answer", ", stale-if-error=30", after: 1, .status(404), .error("httpStatus")),
        failing(
            "5861 4", "must-revalidate wins", ", stale-if-error=30, must-revalidate", after: 1, .status(500),
            .error("httpStatus")),
        failing(
            "5861 4", "the request's", "", after: 30, .status(500), asking: ["Cache-Control": "stale-if-error=30"],
            .stale, .staleIfError),
    ]

    static let immutables: [HTTPCacheCase] = [
        kept("8246 2", "within its time", "max-age=60, immutable", after: 59),
        HTTPCacheCase(
            section: "8246 2", what: "nor is it asked for by who wants revalidation",
            first: ["Cache-Control": "max-age=60, immutable"], after: 59, freshness: .revalidate, delivers: .cache,
            rule: .immutable),
        asked("8246 2", "past its time", "max-age=60, immutable", after: 60),
        asked("8246 2", "the request's no-cache wins", "max-age=60, immutable", asking: ["Cache-Control": "no-cache"]),
        HTTPCacheCase(
            section: "8246 2", what: "without a time it says nothing",
            first: ["Cache-Control": "immutable", "ETag": "\"one\""], freshness: .revalidate, answer: .notModified([:]),
            sends: ["If-None-Match": "\"one\""], delivers: .revalidated, rule: .revalidated),
    ]
}
