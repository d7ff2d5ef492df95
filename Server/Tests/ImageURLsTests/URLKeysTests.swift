import Foundation
import ImageURLs
import Testing

/// Signatures, against those of other programs and under attack.
@Suite struct URLKeysTests {
    private let path = "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
    private let pair = (key: "736563726574", salt: "68656C6C6F")

    @Test func knownAnswerOfImgproxysDocumentation() throws {
        let keys = try URLKeys.imgproxy([pair])
        #expect(keys.signature(of: path) == "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8")
        #expect(keys.signature(of: String(path.dropFirst())) == keys.signature(of: path))
        let job = try ImgproxyURL(keys: keys).job(at: "/oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8" + path)
        #expect(job.source == "http://example.com/images/curiosity.jpg")
    }

    @Test func imgproxysAnswersOfPython() throws {
        let rows = try Answers.read().imgproxy
        #expect(rows.count == 144)
        for row in rows {
            let size = try #require(Int(row[2]))
            let url = ImgproxyURL(keys: try .imgproxy([(row[0], row[1])], size: size))
            #expect(url.signed(row[3]) == "/" + row[4] + row[3])
            #expect(throws: Never.self) { try url.job(at: url.signed(row[3])) }
        }
    }

    @Test func thumborsAnswersOfLibthumbor() throws {
        let rows = try Answers.read().thumbor
        #expect(rows.count == 90)
        for row in rows {
            let url = ThumborURL(keys: try .thumbor([row[0]]))
            let rest = row[1].dropFirst().drop { $0 != "/" }
            #expect(url.signed(String(rest)) == row[1])
            #expect(throws: Never.self) { try url.job(at: row[1]) }
            // As clients send it that encode the padding.
            #expect(throws: Never.self) { try url.job(at: row[1].replacingOccurrences(of: "=/", with: "%3D/")) }
        }
    }

    @Test func anyChangeIsRefused() throws {
        let keys = try URLKeys.imgproxy([pair])
        let url = ImgproxyURL(keys: keys)
        let signed = Array(url.signed("/w:10/plain/http://example.com/a.jpg").utf8)
        for index in signed.indices.dropFirst() {
            for byte in [UInt8(ascii: "A"), UInt8(ascii: "b"), UInt8(ascii: "/"), UInt8(ascii: "=")]
            where signed[index] != byte {
                var changed = signed
                changed[index] = byte
                let error = failure { try url.job(at: String(decoding: changed, as: UTF8.self)) }
                // A slash at the front leaves no text for a signature at all.
                let isEmpty = index == 1 && byte == UInt8(ascii: "/")
                #expect(isEmpty ? error != nil : error == .signature, "\(String(decoding: changed, as: UTF8.self))")
            }
        }
        #expect(ImageURLError.signature.status == 403)
    }

    @Test func onePathHasOneSignature() throws {
        let url = ImgproxyURL(keys: try .imgproxy([pair]))
        for signature in [
            "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH9", "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8=",
            "oKfUtW34Dvo2BGQehJFR4Nr0/rIjOtdtzJ3QFsUcXH8", "oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH", "oKfUtW34",
            "_",
            "unsafe", "",
        ] {
            #expect(failure { try url.job(at: "/" + signature + path) } != nil, "\(signature)")
        }
        // Without the rest, and with a query that is not signed.
        #expect(failure { try url.job(at: "/oKfUtW34Dvo2BGQehJFR4Nr0_rIjOtdtzJ3QFsUcXH8") } != nil)
        #expect(throws: Never.self) { try url.job(at: url.signed(path) + "?a=b") }
    }

    @Test func keysAreChangedWithoutAGap() throws {
        let (old, new) = (("6f6c64", "73"), ("6e6577", "73"))
        let both = ImgproxyURL(keys: try .imgproxy([new, old]))
        for pair in [old, new] {
            let url = ImgproxyURL(keys: try .imgproxy([pair]))
            #expect(throws: Never.self) { try both.job(at: url.signed(path)) }
        }
        #expect(both.signed(path) == ImgproxyURL(keys: try .imgproxy([new])).signed(path))
        #expect(
            failure {
                try ImgproxyURL(keys: .imgproxy([new])).job(at: ImgproxyURL(keys: .imgproxy([old])).signed(path))
            } == .signature)

        let thumbor = ThumborURL(keys: try .thumbor(["new", "old"]))
        #expect(throws: Never.self) {
            try thumbor.job(at: ThumborURL(keys: try .thumbor(["old"])).signed("/10x10/a.jpg"))
        }
    }

    @Test func trustedSignatures() throws {
        let url = ImgproxyURL(keys: try .imgproxy([pair], trusted: ["partner", "b"]))
        #expect(throws: Never.self) { try url.job(at: "/partner" + path) }
        #expect(throws: Never.self) { try url.job(at: "/b" + path) }
        #expect(failure { try url.job(at: "/partne" + path) } == .signature)
    }

    /// A path that is sent without percent-encoding was signed as it is.
    @Test func pathsThatAreNotASCII() throws {
        let imgproxy = ImgproxyURL(keys: try .imgproxy([pair]))
        let thumbor = ThumborURL(keys: try .thumbor(["key"]))
        let plain = PlainURL(keys: try .imgproxy([pair]))
        for grammar in [imgproxy as any ImageURLGrammar, thumbor, plain] {
            let start = grammar is PlainURL ? "/_/" : grammar is ThumborURL ? "/" : "/plain/"
            let raw = grammar.signed(start + "https://a.org/ä/\u{301}.jpg")
            #expect(try grammar.job(at: raw).source == "https://a.org/%C3%A4/%CC%81.jpg")
            #expect(failure { try grammar.job(at: raw.replacing("ä", with: "ö")) } == .signature)
            let encoded = grammar.signed(start + "https://a.org/%C3%A4.jpg")
            #expect(try grammar.job(at: encoded).source == "https://a.org/%C3%A4.jpg")
        }
    }

    /// URLs without a signature, by policy, with keys and without.
    @Test func policies() throws {
        let rows: [(policy: URLKeys.Policy, hasKey: Bool, word: String, isAnswered: Bool)] = [
            (.signedOnly, false, "unsafe", false), (.signedOnly, true, "unsafe", false),
            (.unsignedWithoutKeys, false, "unsafe", true), (.unsignedWithoutKeys, false, "_", true),
            (.unsignedWithoutKeys, true, "unsafe", false), (.unsafeAllowed, true, "unsafe", true),
            (.unsafeAllowed, true, "_", false), (.unsafeAllowed, false, "_", true),
        ]
        let noSignature = ImageURLError.path("it begins with neither 'unsafe' nor a signature")
        for row in rows {
            let imgproxy = ImgproxyURL(keys: try .imgproxy(row.hasKey ? [pair] : [], policy: row.policy))
            let thumbor = ThumborURL(keys: try .thumbor(row.hasKey ? ["key"] : [], policy: row.policy))
            for (grammar, rest) in [(imgproxy as any ImageURLGrammar, path), (thumbor, "/10x10/a.jpg")] {
                let error = failure { try grammar.job(at: "/" + row.word + rest) }
                let isThumborsOwn = row.isAnswered && row.word == "_" && grammar is ThumborURL
                #expect(error == (isThumborsOwn ? noSignature : row.isAnswered ? nil : .signature), "\(row)")
            }
        }
        #expect(ThumborURL(keys: try .thumbor([])).signed("10x10/a.jpg") == "/unsafe/10x10/a.jpg")
    }

    @Test func keysThatAreNone() {
        for pair in [("", "61"), ("6", "61"), ("61", "6"), ("zz", "61"), ("61", "zz"), ("61 ", "61")] {
            #expect(throws: ConfigurationError.self) { try URLKeys.imgproxy([pair]) }
        }
        for size in [0, 33, -1, .max] {
            #expect(throws: ConfigurationError.self) { try URLKeys.imgproxy([], size: size) }
        }
        #expect(throws: ConfigurationError.self) { try URLKeys.thumbor(["a", ""]) }
    }
}
