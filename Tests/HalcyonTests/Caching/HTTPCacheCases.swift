import Halcyon

/// The rows, by the sections of RFC 9111, then RFC 5861 and RFC 8246. The first answer comes at 22:13:20.5 GMT.
extension HTTPCacheCase {
    static let all =
        storing + freshness + ages + requests + responses + validation + whole + staleness + failures
        + immutables

    private static let date = "Tue, 14 Nov 2023 22:13:20 GMT"

    private static let storing: [HTTPCacheCase] = [
        notKept("9111 3", "no-store", ["Cache-Control": "no-store", "ETag": "\"one\""]),
        notKept("9111 3", "no-store beside max-age", ["Cache-Control": "max-age=60, no-store"]),
        notKept("9111 3", "NO-STORE in any case", ["Cache-Control": "No-Store"]),
        notKept("9111 3", "status 201", status: 201, ["Cache-Control": "max-age=60"]),
        notKept("9111 3", "status 202 with a validator", status: 202, ["ETag": "\"one\""]),
        notKept("9111 3", "status 404 with freshness", status: 404, ["Cache-Control": "max-age=60"]),
        notKept("9111 3", "status 410 with freshness", status: 410, ["Cache-Control": "max-age=60"]),
        notKept("9111 3", "status 300 is no image", status: 300, ["Cache-Control": "max-age=60"]),
        notKept(
            "9111 3.3", "a part that was asked for", status: 206,
            ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-1415/9999"],
            firstRequest: ["Range": "bytes=0-1415"]),
        notKept("9111 3.3", "a part that was not asked for", status: 206, ["Cache-Control": "max-age=60"]),
        HTTPCacheCase(
            section: "9111 3", what: "status 203", status: 203, first: ["Cache-Control": "max-age=60"], after: 59,
            delivers: .cache, rule: .fresh),
        HTTPCacheCase(
            section: "9111 3.5", what: "an answer to Authorization, as the cache is private",
            first: ["Cache-Control": "max-age=60"], firstRequest: ["Authorization": "Bearer a"], after: 59,
            request: ["Authorization": "Bearer a"], delivers: .cache, rule: .fresh),
    ]

    private static let freshness: [HTTPCacheCase] = [
        kept("9111 4.2", "within max-age", "max-age=60", after: 59),
        asked("9111 4.2", "at the end of max-age", "max-age=60", after: 60),
        kept("9111 4.2.1", "s-maxage is not for a private cache", "s-maxage=0, max-age=60", after: 59),
        kept("9111 4.2.1", "the first of two max-age counts", "max-age=60, max-age=1", after: 59),
        asked("9111 4.2.1", "a max-age that is no number", "max-age=soon"),
        kept("9111 4.2.1", "a quoted max-age", "max-age=\"60\"", after: 59),
        kept("9111 1.2.2", "seconds beyond any number", "max-age=99999999999999999999", after: 500_000),
        HTTPCacheCase(
            section: "9111 4.2.2", what: "no heuristics: the cache's own time decides",
            first: ["Last-Modified": "Tue, 14 Nov 2023 22:00:00 GMT"], after: 200, delivers: .cache,
            rule: .freshByTimeToLive),
        HTTPCacheCase(
            section: "9111 5.3", what: "before Expires",
            first: ["Date": date, "Expires": "Tue, 14 Nov 2023 22:14:20 GMT"],
            after: 59, delivers: .cache, rule: .fresh),
        HTTPCacheCase(
            section: "9111 5.3", what: "after Expires",
            first: ["Date": date, "Expires": "Tue, 14 Nov 2023 22:14:20 GMT"],
            after: 60, sends: [:], delivers: .network, rule: .replaced),
        HTTPCacheCase(
            section: "9111 5.3", what: "Expires: 0 is the past", first: ["Expires": "0", "ETag": "\"one\""],
            sends: ["If-None-Match": "\"one\""], delivers: .network, rule: .replaced),
        HTTPCacheCase(
            section: "9111 5.3", what: "max-age wins over Expires",
            first: ["Cache-Control": "max-age=60", "Expires": "0"], after: 59, delivers: .cache, rule: .fresh),
        HTTPCacheCase(
            section: "9111 4.2", what: "an obsolete date", first: ["Expires": "Tuesday, 14-Nov-23 22:14:20 GMT"],
            after: 59, delivers: .cache, rule: .fresh),
    ]

    private static let ages: [HTTPCacheCase] = [
        HTTPCacheCase(
            section: "9111 4.2.3", what: "Age counts, before", first: ["Cache-Control": "max-age=60", "Age": "30"],
            after: 29, delivers: .cache, rule: .fresh),
        HTTPCacheCase(
            section: "9111 4.2.3", what: "Age counts, after", first: ["Cache-Control": "max-age=60", "Age": "30"],
            after: 30, sends: [:], delivers: .network, rule: .replaced),
        HTTPCacheCase(
            section: "9111 4.2.3", what: "Date counts where it is older",
            first: ["Cache-Control": "max-age=60", "Date": "Tue, 14 Nov 2023 22:12:50 GMT"],
            after: 30, sends: [:], delivers: .network, rule: .replaced),
        HTTPCacheCase(
            section: "9111 5.1", what: "an Age that is no number is none",
            first: ["Cache-Control": "max-age=60", "Age": "-5"], after: 59, delivers: .cache, rule: .fresh),
        HTTPCacheCase(
            section: "9111 4.2.3", what: "a Date of the future is not trusted",
            first: ["Cache-Control": "max-age=60", "Date": "Tue, 14 Nov 2023 23:13:20 GMT"], after: 60, sends: [:],
            delivers: .network, rule: .replaced),
        HTTPCacheCase(
            section: "9111 4.2.3", what: "a clock that was a day ahead makes nothing fresh",
            first: ["Cache-Control": "max-age=60", "ETag": "\"one\""], after: -86_400,
            sends: ["If-None-Match": "\"one\""], delivers: .network, rule: .replaced),
    ]

    private static let requests: [HTTPCacheCase] = [
        kept("9111 5.2.1.1", "max-age that suffices", "max-age=60", after: 10, asking: ["Cache-Control": "max-age=10"]),
        asked("9111 5.2.1.1", "max-age that is past", "max-age=60", after: 11, asking: ["Cache-Control": "max-age=10"]),
        asked(
            "9111 5.2.1.1", "max-age without explicit freshness", "public", after: 11,
            asking: ["Cache-Control": "max-age=10"]),
        kept(
            "9111 5.2.1.2", "max-stale that suffices", "max-age=60", after: 70,
            asking: ["Cache-Control": "max-stale=10"], rule: .staleByRequest),
        kept(
            "9111 5.2.1.2", "max-stale without seconds", "max-age=60", after: 7000,
            asking: ["Cache-Control": "max-stale"], rule: .staleByRequest),
        asked(
            "9111 5.2.1.2", "max-stale that is past", "max-age=60", after: 71,
            asking: ["Cache-Control": "max-stale=10"]),
        asked(
            "9111 5.2.2.2", "max-stale against must-revalidate", "max-age=60, must-revalidate", after: 61,
            asking: ["Cache-Control": "max-stale"]),
        kept(
            "9111 5.2.1.3", "min-fresh that is left", "max-age=60", after: 50, asking: ["Cache-Control": "min-fresh=10"]
        ),
        asked(
            "9111 5.2.1.3", "min-fresh that is not left", "max-age=60", after: 51,
            asking: ["Cache-Control": "min-fresh=10"]),
        asked("9111 5.2.1.4", "no-cache", "max-age=60", asking: ["Cache-Control": "no-cache"]),
        asked("9111 5.4", "Pragma: no-cache", "max-age=60", asking: ["Pragma": "no-cache"]),
        kept(
            "9111 5.4", "Pragma beside Cache-Control", "max-age=60",
            asking: ["Pragma": "no-cache", "Cache-Control": "max-age=60"]),
        HTTPCacheCase(
            section: "9111 5.2.1.5", what: "no-store", first: [:], firstRequest: ["Cache-Control": "no-store"],
            request: ["Cache-Control": "no-store"], sends: [:], delivers: .network,
            rule: .notStored(.requestNoStore)),
        kept(
            "9111 5.2.1.7", "only-if-cached, fresh", "max-age=60", after: 59,
            asking: ["Cache-Control": "only-if-cached"]),
        HTTPCacheCase(
            section: "9111 5.2.1.7", what: "only-if-cached, stale", first: ["Cache-Control": "max-age=60"], after: 60,
            request: ["Cache-Control": "only-if-cached"], delivers: .error("notInCache"), rule: nil),
    ]

    private static let responses: [HTTPCacheCase] = [
        asked("9111 5.2.2.4", "no-cache", "no-cache, max-age=60"),
        asked(
            "9111 5.2.2.4", "no-cache that names fields counts as one that names none",
            "no-cache=\"Set-Cookie\", max-age=60"),
        kept("9111 5.2.2.2", "must-revalidate while it is fresh", "max-age=60, must-revalidate", after: 59),
        asked(
            "9111 5.2.2.2", "must-revalidate, stale", "max-age=60, must-revalidate, stale-while-revalidate=99",
            after: 60),
        kept("9111 5.2.2.3", "must-understand takes no-store back", "must-understand, no-store, max-age=60", after: 59),
        notKept(
            "9111 5.2.2.3", "must-understand, a status that is not understood", status: 201,
            ["Cache-Control": "must-understand, no-store, max-age=60"]),
        kept("9111 5.2.2.7", "private is no bar to a private cache", "private, max-age=60", after: 59),
        kept("9111 5.2.2.8", "proxy-revalidate is for shared ones", "proxy-revalidate, max-age=60", after: 59),
        kept("9111 5.2.3", "an unknown directive", "x=\"no-store, max-age=0\", max-age=60", after: 59),
        HTTPCacheCase(
            section: "9111 5.4", what: "Pragma of an answer means nothing",
            first: ["Pragma": "no-cache", "Cache-Control": "max-age=60"], after: 59, delivers: .cache, rule: .fresh),
    ]
}
