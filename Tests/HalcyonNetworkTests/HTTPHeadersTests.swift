import Foundation
import HalcyonNetwork
import TestSupport
import Testing

struct HTTPHeadersTests {
    @Test func namesHaveNoCaseAndOrderIsKept() {
        var headers: HTTPHeaders = ["B": "1", "A": "2"]
        headers.append("b", "3")
        #expect(headers["b"] == "1")
        #expect(headers.values(of: "B") == ["1", "3"])
        #expect(headers.combined("b") == "1, 3")
        #expect(headers.fields.map(\.name) == ["B", "A", "b"])
        headers.set("b", "4")
        #expect(headers.values(of: "B") == ["4"])
        #expect(headers.fields.map(\.name) == ["B", "A"])
        headers["C"] = "5"
        headers["a"] = nil
        #expect(headers.fields.map(\.name) == ["B", "C"])
        #expect(headers.contains("c") && !headers.contains("A"))
        headers.remove("missing")
        #expect(headers == ["b": "4", "c": "5"])
        #expect(headers != ["b": "4"])
        #expect(headers.hashValue == (["b": "4", "c": "5"] as HTTPHeaders).hashValue)
    }

    /// The Angstrom sign, and an A with a ring above it: equal as texts, and as many bytes.
    @Test func valuesAndNamesCompareByTheirBytes() {
        let (sign, letters) = ("\u{212B}", "A\u{30A}")
        #expect(sign == letters)
        #expect(HTTPHeaders([.init(name: "X", value: sign)]) != HTTPHeaders([.init(name: "X", value: letters)]))
        #expect(HTTPHeaders([.init(name: sign, value: "1")])[letters] == nil)
    }

    @Test func mergingReplacesByName() {
        let merged = (["A": "1", "B": "2"] as HTTPHeaders).merging(["b": "3", "C": "4"])
        #expect(merged == ["A": "1", "b": "3", "C": "4"])
    }

    @Test(
        arguments: [
            ("5", 5), ("0", 0), ("5, 5", 5), ("5, 6", nil), ("-1", nil), ("+5", nil), ("abc", nil), ("", nil),
            ("5x", nil),
            ("99999999999999999999999", nil),
        ] as [(String, Int?)])
    func contentLengthIsANumberOrNone(_ text: String, _ expected: Int?) {
        let url = URL(web: "http://one.test/")
        let head = HTTPResponseHead(url: url, status: 200, headers: ["Content-Length": text])
        #expect(head.contentLength == expected)
    }

    static let dates: [(String, TimeInterval?)] = [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Wed, 31 Dec 1969 23:59:59 GMT", -1), ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
        ("Sun, 6 Nov 1994 08:49:37 gmt", 784_111_777), ("Saturday, 01-Jan-50 00:00:00 GMT", 2_524_608_000),
        ("0", nil), ("-1", nil), ("", nil), ("Sun, 06 Nov 1994", nil), ("Sun, 06 Foo 1994 08:49:37 GMT", nil),
        ("Sun, 32 Nov 1994 08:49:37 GMT", nil), ("Sun, 06 Nov 1994 24:00:00 GMT", nil),
        ("Sun, 06 Nov 1994 08:49:37 PST", nil), ("Sun, 06 Nov 94 08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994 8:49:37 GMT", nil),
    ]

    @Test(arguments: dates)
    func allThreeFormsOfDatesAreRead(_ text: String, _ expected: TimeInterval?) {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        #expect(HTTPDate.parse(text, now: now)?.timeIntervalSince1970 == expected)
    }
}
