import Foundation
import HalcyonNetwork
import TestSupport
import Testing

struct HTTPCacheMetadataTests {
    /// The time at which every response here is received: Sun, 06 Nov 1994 08:49:37 GMT.
    static let now = Date(timeIntervalSince1970: 784_111_777)

    private func metadata(_ headers: HTTPHeaders, request: HTTPHeaders = HTTPHeaders()) -> HTTPCacheMetadata {
        let url = URL(web: "http://one.test/a")
        let head = HTTPResponseHead(url: url, status: 200, headers: headers)
        return HTTPCacheMetadata(head, requestHeaders: request, now: Self.now)
    }

    private func head(_ headers: HTTPHeaders) -> HTTPResponseHead {
        HTTPResponseHead(url: URL(web: "http://one.test/a"), status: 304, headers: headers)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let headers: HTTPHeaders
        /// The seconds from now for which the response is fresh; nil without explicit freshness.
        let fresh: TimeInterval?

        init(_ headers: HTTPHeaders, _ fresh: TimeInterval?) {
            self.headers = headers
            self.fresh = fresh
        }

        var testDescription: String { headers.fields.map { "\($0.name): \($0.value)" }.joined(separator: "; ") }
    }

    static let rows = [
        Row([:], nil),
        Row(["Cache-Control": "public"], nil),
        Row(["Cache-Control": "max-age=60"], 60),
        Row(["Cache-Control": "MAX-AGE=60"], 60),
        Row(["Cache-Control": "max-age=\"60\""], 60),
        Row(["Cache-Control": "private, max-age=60"], 60),
        Row(["Cache-Control": "max-age=0"], 0),
        Row(["Cache-Control": "max-age=60, max-age=600"], 60),
        Row(["Cache-Control": "max-age=-1"], 0),
        Row(["Cache-Control": "max-age=1.5"], 0),
        Row(["Cache-Control": "max-age=soon"], 0),
        Row(["Cache-Control": "max-age="], 0),
        Row(["Cache-Control": "max-age=99999999999999999999"], 2_147_483_648),
        Row(["Cache-Control": "s-maxage=600"], nil),
        Row(["Cache-Control": "s-maxage=600, max-age=60"], 60),
        Row(["Cache-Control": "extension=\"max-age=600\", max-age=60"], 60),
        Row(["Cache-Control": "extension=\"a, max-age=600\""], nil),
        Row(["Cache-Control": "max-age=60", "Age": "20"], 40),
        Row(["Cache-Control": "max-age=60", "Age": "100"], -40),
        Row(["Cache-Control": "max-age=60", "Age": "-5"], 60),
        Row(["Cache-Control": "max-age=60", "Age": "99999999999999999999"], 60 - 2_147_483_648),
        Row(["Cache-Control": "extension=\"a\\\", max-age=600\", max-age=60"], 60),
        Row(["Cache-Control": "extension=\"a\\\\\", max-age=60"], 60),
        Row(["Cache-Control": "extension=\"a, max-age=60"], 60),
        Row(["Cache-Control": "max-age = 60"], 60),
        Row(["Cache-Control": ",, max-age=60,"], 60),
        Row(["Cache-Control": "max-age=60", "Age": "what"], 60),
        Row(["Cache-Control": "max-age=60", "Date": "Sun, 06 Nov 1994 08:49:27 GMT"], 50),
        Row(["Cache-Control": "max-age=60", "Date": "Sun, 06 Nov 1994 08:49:27 GMT", "Age": "30"], 30),
        Row(["Cache-Control": "max-age=60", "Date": "Sun, 06 Nov 1994 09:49:37 GMT"], 60),
        Row(["Expires": "Sun, 06 Nov 1994 08:50:37 GMT"], 60),
        Row(["Expires": "Sunday, 06-Nov-94 08:50:37 GMT"], 60),
        Row(["Expires": "Sun Nov  6 08:50:37 1994"], 60),
        Row(["Expires": "Sun, 06 Nov 1994 08:40:37 GMT"], 0),
        Row(["Expires": "0"], 0),
        Row(["Expires": "-1"], 0),
        Row(["Expires": "Sun, 06 Nov 1994 08:50:37 GMT", "Cache-Control": "max-age=5"], 5),
        Row(["Expires": "Sun, 06 Nov 1994 09:50:37 GMT", "Date": "Sun, 06 Nov 1994 09:49:37 GMT"], 60),
        Row(["Expires": "Sun, 06 Nov 1994 08:50:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:17 GMT"], 60),
    ]

    @Test(arguments: rows)
    func freshnessLifetimeFollowsHeaders(_ row: Row) {
        let metadata = metadata(row.headers)
        #expect(metadata.freshUntil.map { $0.timeIntervalSince(Self.now) } == row.fresh)
        #expect(metadata.hasExplicitFreshness == (row.fresh != nil))
        guard let fresh = row.fresh else {
            #expect(metadata.state(at: .distantFuture) == .fresh)
            return
        }
        #expect(metadata.state(at: Self.now.addingTimeInterval(fresh - 0.5)) == .fresh)
        #expect(metadata.state(at: Self.now.addingTimeInterval(fresh)) == .stale)
    }

    @Test func directivesAreSeen() {
        let all = metadata(["Cache-Control": "no-cache, no-store, must-revalidate, immutable"])
        #expect(all.noCache && all.noStore && all.mustRevalidate && all.isImmutable)
        let none = metadata(["Cache-Control": "max-age=1, x-no-cache, extension=no-store"])
        #expect(!none.noCache && !none.noStore && !none.mustRevalidate && !none.isImmutable)
        #expect(metadata(["Cache-Control": "no-cache=\"Set-Cookie\""]).noCache)
    }

    @Test(
        arguments: [
            "a=\", no-store", "a=\"b\\\", no-store", "a=\"b, no-store, c=\"d\"", "a=\"b\\\\\", no-store",
            "no-store=\"x",
            "\"a, no-store", "a\"b, no-store, c\"", "a=\"\\, no-store", "a=\"b\"c, no-store",
        ])
    func noQuoteHidesNoStore(_ line: String) {
        #expect(metadata(["Cache-Control": line]).noStore)
    }

    @Test func aDamagedLineDoesNotHideTheNext() throws {
        var headers: HTTPHeaders = ["Cache-Control": "a=\"b"]
        headers.append("Cache-Control", "no-store, c=\"d\", must-revalidate")
        headers.append("Cache-Control", "max-age=60, e=\", f\"")
        let value = metadata(headers)
        #expect(value.noStore && value.mustRevalidate)
        #expect(value.freshUntil == Self.now.addingTimeInterval(60))
        #expect(HTTPCacheMetadata(decoding: value.encoded()) == value)
        #expect(metadata([:]).merging(notModified: head(headers), now: Self.now) == value)
    }

    @Test func revalidationCanBeRequired() throws {
        let fresh = metadata(["Cache-Control": "max-age=600, immutable", "ETag": "\"1\""])
        #expect(fresh.state(at: Self.now) == .fresh)
        let asked = fresh.requiringRevalidation()
        #expect(asked.fields == fresh.fields && asked.noCache && !asked.noStore)
        #expect(asked.conditionalHeaders == fresh.conditionalHeaders)
        let decoded = try #require(HTTPCacheMetadata(decoding: asked.encoded()))
        #expect(decoded == asked)
        #expect(decoded.state(at: Self.now) == .stale)
        #expect(metadata([:]).requiringRevalidation().state(at: Self.now) == .stale)
        #expect(asked.merging(notModified: head([:]), now: Self.now).state(at: Self.now) == .fresh)
    }

    @Test(
        arguments: [
            ([:], true), (["Cache-Control": "max-age=0"], true), (["Cache-Control": "must-revalidate"], false),
            (["Cache-Control": "no-cache"], false), (["Vary": "*"], false), (["Vary": "Accept"], true),
        ] as [(HTTPHeaders, Bool)])
    func staleServingFollowsDirectives(_ headers: HTTPHeaders, _ expected: Bool) {
        #expect(metadata(headers).mayBeServedStale == expected)
    }

    @Test func theFirstStoredFormIsStillRead() {
        let value = metadata(["Cache-Control": "max-age=60"])
        var bytes = value.encoded()
        #expect(bytes.prefix(2) == Data([2, 0]))
        bytes.replaceSubrange(0..<2, with: [1])
        #expect(HTTPCacheMetadata(decoding: bytes) == value)
    }

    @Test func validatorsThatCannotBeSentAreLeftOut() {
        let one = metadata(["ETag": "\"a\r\nX: b\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"])
        #expect(one.conditionalHeaders == ["If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"])
        #expect(metadata(["ETag": "\"\u{0}\"", "Last-Modified": "\u{7F}"]).conditionalHeaders.isEmpty)
    }

    @Test func noCacheAsksEveryTime() {
        #expect(metadata(["Cache-Control": "no-cache, max-age=600"]).state(at: Self.now) == .stale)
        #expect(metadata(["Cache-Control": "no-cache"]).state(at: Self.now) == .stale)
    }

    @Test func severalFieldsAreOneList() {
        var headers: HTTPHeaders = ["Cache-Control": "immutable"]
        headers.append("cache-control", "max-age=60")
        let metadata = metadata(headers)
        #expect(metadata.isImmutable)
        #expect(metadata.freshUntil == Self.now.addingTimeInterval(60))
    }

    @Test func validatorsMakeTheConditions() {
        let both = metadata(["ETag": "W/\"é\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"])
        #expect(
            both.conditionalHeaders == [
                "If-None-Match": "W/\"é\"", "If-Modified-Since": "Sun, 06 Nov 1994 08:49:37 GMT",
            ])
        #expect(metadata([:]).conditionalHeaders.isEmpty)
    }

    @Test func varyComparesWhatWasSent() {
        let sent: HTTPHeaders = ["Accept": "image/webp", "User-Agent": "x"]
        let one = metadata(["Vary": "Accept, Accept-Language"], request: sent)
        #expect(one.matches(requestHeaders: ["accept": "image/webp", "User-Agent": "y"]))
        #expect(!one.matches(requestHeaders: ["Accept": "image/png"]))
        #expect(!one.matches(requestHeaders: sent.merging(["Accept-Language": "de"])))
        #expect(metadata([:], request: sent).matches(requestHeaders: [:]))
        let star = metadata(["Vary": "*", "Cache-Control": "max-age=60"])
        #expect(!star.matches(requestHeaders: [:]))
        #expect(star.state(at: Self.now) == .stale)
    }

    @Test(
        arguments: [
            ("public", true), ("s-maxage=1", true), ("s-maxage=\"60\"", true), ("PUBLIC, max-age=0", true), ("", false),
            ("max-age=60", false), ("must-revalidate", false), ("s-maxage=0", false), ("s-maxage=-1", false),
            ("s-maxage", false), ("public, private", false), ("private, s-maxage=60", false),
            ("public, no-store", false),
            ("x=\"public\"", false), ("x=\"a, public, b\"", false), ("\"x, public\"", false),
            ("\"x, public, y\"", false),
            ("x=\"a, public", false), ("public, x=\"a", false), ("public=", true), ("x-public", false),
            ("x=\"a\\\", public, b\"", false), ("x=\"a\\\\\", public", true),
        ])
    func cacheControlDecidesWhetherResponseIsShared(_ control: String, _ expected: Bool) {
        let value = metadata(["Cache-Control": control])
        #expect(value.isShared == expected)
        #expect(HTTPCacheMetadata(decoding: value.encoded())?.isShared == expected)
    }

    @Test(
        arguments: [
            ("Accept", true), ("accept-language, Origin", true), ("Authorization", false), ("Accept, cookie", false),
            ("X-Api-Key", false), ("*", false), ("Accept, *", false), ("\"Accept, Cookie\"", false), ("a b", false),
        ])
    func responseVaryingByUserIsNotShared(_ vary: String, _ expected: Bool) {
        #expect(metadata(["Cache-Control": "public", "Vary": vary]).isShared == expected)
    }

    @Test func invalidVaryNameCountsAsAsterisk() {
        for vary in ["\"Accept\"", "Accept Language", "a/b", "ä"] {
            #expect(metadata(["Vary": vary]).variesOnEverything, "\(vary)")
        }
        #expect(!metadata(["Vary": ", Accept ,,"]).variesOnEverything)
    }

    @Test func secretsAreComparedByTheirHashes() throws {
        let sent: HTTPHeaders = ["Authorization": "Bearer s3cret", "Accept": "a"]
        let value = metadata(["Vary": "Authorization, Accept, Cookie"], request: sent)
        #expect(!"\(value.varyValues)".contains("s3cret"))
        #expect(value.encoded().range(of: Data("s3cret".utf8)) == nil)
        let kept = try #require(HTTPCacheMetadata(decoding: value.encoded()))
        #expect(kept == value)
        for metadata in [value, kept] {
            #expect(metadata.matches(requestHeaders: sent))
            #expect(!metadata.matches(requestHeaders: sent.merging(["Authorization": "Bearer other"])))
            #expect(!metadata.matches(requestHeaders: ["Accept": "a"]))
            #expect(!metadata.matches(requestHeaders: sent.merging(["Cookie": "a"])))
        }
    }

    @Test func notModifiedUpdatesStoredMetadata() {
        let old = metadata([
            "Cache-Control": "max-age=60", "Age": "50", "ETag": "\"1\"", "Content-Type": "image/png",
            "Date": "Sun, 06 Nov 1994 08:48:37 GMT",
        ])
        let later = Self.now.addingTimeInterval(1000)
        let kept = old.merging(notModified: head([:]), now: later)
        #expect(kept.freshUntil == later.addingTimeInterval(60))
        #expect(kept.etag == "\"1\"")
        #expect(kept.responseDate == later)
        let changed = old.merging(
            notModified: head(["Cache-Control": "max-age=5, immutable", "ETag": "\"2\"", "Age": "1"]), now: later)
        #expect(changed.freshUntil == later.addingTimeInterval(4))
        #expect(changed.etag == "\"2\"")
        #expect(changed.contentType == "image/png")
        #expect(changed.isImmutable)
    }

    @Test func encodingKeepsEverything() throws {
        let request: HTTPHeaders = ["Accept": "ä"]
        for row in Self.rows + [Row(["Vary": "Accept, X-None", "ETag": "\"ü\"", "Cache-Control": "no-store"], nil)] {
            let value = metadata(row.headers, request: request)
            #expect(HTTPCacheMetadata(decoding: value.encoded()) == value)
            #expect(try JSONDecoder().decode(HTTPCacheMetadata.self, from: JSONEncoder().encode(value)) == value)
        }
    }

    @Test func damagedBytesAreRefused() {
        let bytes = metadata(["Vary": "Accept", "ETag": "\"1\"", "Cache-Control": "max-age=60"]).encoded()
        for count in 0..<bytes.count { #expect(HTTPCacheMetadata(decoding: bytes.prefix(count)) == nil) }
        #expect(HTTPCacheMetadata(decoding: bytes + [0]) == nil)
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0xFF
            // Whatever comes out of it, it must not trap.
            _ = HTTPCacheMetadata(decoding: damaged)
        }
        // A slice of a larger piece, whose indices do not begin at zero.
        #expect(HTTPCacheMetadata(decoding: (Data(count: 5) + bytes).dropFirst(5)) != nil)
    }
}
