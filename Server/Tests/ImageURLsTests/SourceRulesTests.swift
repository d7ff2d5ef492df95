import Foundation
import ImageURLs
import Testing

/// Sources under attack: an address is read as one host and path, or refused.
@Suite struct SourceRulesTests {
    @Test func addressesInTheirOneForm() throws {
        let rows = [
            ("http://good.com", "http://good.com/"), ("HTTP://Good.COM/A", "http://good.com/A"),
            ("http://good.com:80/a", "http://good.com/a"), ("https://good.com:443/a", "https://good.com/a"),
            ("https://good.com:80/a", "https://good.com:80/a"), ("http://good.com?a=b", "http://good.com/?a=b"),
            ("http://good.com/a?b=c/../d", "http://good.com/a?b=c/../d"), ("http://good.com/a#b", "http://good.com/a"),
            ("http://good.com/a?b#@evil.org/", "http://good.com/a?b"), ("http://good.com//a", "http://good.com//a"),
            ("http://127.0.0.1/a", "http://127.0.0.1/a"), ("http://[::0:1]:81/a", "http://[::1]:81/a"),
            ("http://[2001:DB8::1]/a", "http://[2001:db8::1]/a"),
            ("http://xn--bcher-kva.de/a", "http://xn--bcher-kva.de/a"),
            ("http://a_b-c.good.com/...a/..b/c.", "http://a_b-c.good.com/...a/..b/c."),
            ("http://good.com/a@b:c", "http://good.com/a@b:c"),
            ("http://good.com/a%20b?c[]=d", "http://good.com/a%20b?c[]=d"),
            ("http://r3---sn.good.com/", "http://r3---sn.good.com/"), ("s3://Bucket.1/a", "s3://Bucket.1/a"),
            ("local:///a/b", "local:///a/b"), ("http://good.com/%252e%252e/a", "http://good.com/%252e%252e/a"),
        ]
        for (text, form) in rows {
            let result = Result { try SourceURL(text) }
            #expect((try? result.get())?.description == form, "\(text): \(result)")
            #expect(try SourceURL(form).description == form)
        }
    }

    @Test func addressesThatAreRefused() {
        let rows: [(SourceRefusal, [String])] = [
            (
                .relative,
                [
                    "", "a", "/a", "//good.com/a", "good.com/a", "http:good.com", "http:/good.com", "://a", "1a://b",
                    "ht/tp://a",
                ]
            ),
            (
                .credentials,
                [
                    "http://good.com@evil.org/", "http://good.com:80@evil.org/", "http://@evil.org/",
                    "http://a:b@evil.org",
                    "http://evil.org@/", "s3://key@bucket/a",
                ]
            ),
            (
                .host,
                [
                    "http://", "http:///a", "http://:80/", "http://good.com./", "http://.good.com/",
                    "http://good..com/", "http://good%2ecom/",
                    "http://good.com%2f@evil.org".replacingOccurrences(of: "@", with: "."), "http://*.good.com/",
                    "http://good.com;evil.org/",
                    "http://2130706433/", "http://127.1/", "http://0x7f.1/", "http://0x7f000001/", "http://0177.0.0.1/",
                    "http://127.0.0.01/",
                    "http://1.2.3.256/", "http://1.2.3.4.5/", "http://a.1/", "http://a.0x/", "http://[::1/",
                    "http://::1]/", "http://[::1%25eth0]/",
                    "http://[::1]a/", "http://[]/", "http://[1.2.3.4]/", "http://[::g]/", "http://a,b/", "http://a=b/",
                    "http://" + String(repeating: "a", count: 64) + ".com/",
                    "http://" + String(repeating: "a.", count: 127) + "com/",
                    "local://host/a", "s3://a:1/b", "s3://a%2fb/c", "s3:///a",
                ]
            ),
            (
                .port,
                [
                    "http://good.com:/", "http://good.com:0/", "http://good.com:65536/", "http://good.com:080/",
                    "http://good.com:+80/",
                    "http://good.com:80:80/", "http://good.com:8a/", "http://good.com:99999999999999999999/",
                    "http://[::1]:/",
                ]
            ),
            (
                .character,
                [
                    "http://good.com\\@evil.org/", "http:\\\\good.com/", "http://good.com/a\\b",
                    "http://good.com\t.evil.org/",
                    "http://good.com\n/", "http://good.com/a b", " http://good.com/", "http://good.com/\u{0}",
                    "http://gööd.com/",
                    "http://good.com\u{3002}evil.org/", "http://good\u{FF0E}com/", "http://good.com/ä",
                    "http://good.com/\u{7F}",
                    "http://good.com/<", "http://good.com/%", "http://good.com/%2", "http://good.com/%zz",
                    "http://good.com/a%00b",
                    "http://good.com/?a=%", "http://good.com/?%00", "http://good.com/`", "http://good.com/{a}",
                    "http://good.com\r\nHost:a/",
                ]
            ),
            (
                .dots,
                [
                    "http://good.com/..", "http://good.com/a/../b", "http://good.com/./a", "http://good.com/%2e%2e/a",
                    "http://good.com/%2E./a",
                    "http://good.com/a/.%2e", "http://good.com/a%2f..%2fb", "http://good.com/a%5c..%5Cb",
                    "local:///../etc/passwd", "s3://b/../c",
                    "http://good.com/..?a", "http://good.com/a/..;b/c", "http://good.com/..%3b/c",
                    "http://good.com/../#a",
                ]
            ),
            (.fragment, ["http://good.com#@evil.org/", "http://good.com#", "http://good.com:80#a"]),
            (.tooLong, ["http://good.com/" + String(repeating: "a", count: 8177)]),
        ]
        for (refusal, texts) in rows {
            for text in texts {
                #expect(throws: refusal, "\(text.prefix(80))") { try SourceURL(text) }
            }
        }
    }

    /// No address that is read at all names another host to a browser, or to Python.
    @Test func hostsAsOthersSeeThem() throws {
        let rows = try Answers.read().hosts
        #expect(rows.count == 2000)
        var count = 0
        for row in rows {
            guard let text = row[0], let url = try? SourceURL(text) else { continue }
            count += 1
            #expect(row[1] == url.host, "\(text)")
            let bare = url.host.hasPrefix("[") ? String(url.host.dropFirst().dropLast()) : url.host
            #expect(row[2] == bare, "\(text)")
        }
        #expect(count > 200, "\(count)")
    }

    @Test func rules() throws {
        let rows: [(rule: String, allowed: [String], refused: [String])] = [
            (
                "http://good.com", ["http://good.com", "http://good.com/a", "HTTP://GOOD.COM:80/a?b"],
                [
                    "http://good.com.evil.org/", "http://good.comevil.org/", "http://good.com:8080/",
                    "https://good.com/",
                    "http://a.good.com/", "http://evil.org/http://good.com", "http://evil.org?http://good.com",
                    "http://goo.com/",
                ]
            ),
            (
                "https://good.com/img/", ["https://good.com/img/a", "https://good.com/img/"],
                [
                    "https://good.com/img", "https://good.com/images/a", "https://good.com/a/img/",
                    "https://good.com/?/img/",
                    "https://good.com/%69mg/a",
                ]
            ),
            (
                "https://good.com/img",
                ["https://good.com/img", "https://good.com/img/a", "https://good.com/img-private"],
                [
                    "https://good.com/im", "https://good.com/Img",
                ]
            ),
            (
                "https://*.good.com/", ["https://a.good.com/b", "https://a.b.good.com/"],
                [
                    "https://good.com/", "https://evil.org/.good.com/", "https://evil.org?.good.com/",
                    "https://agood.com/",
                    "https://a.good.com.evil.org/", "https://a.good.com:444/",
                ]
            ),
            (
                "https://cdn-*.good.com", ["https://cdn-1.good.com/a"],
                ["https://cdn.good.com/a", "https://cdn-1.evil.com/a"]
            ),
            (
                "https://good.com/*/img/", ["https://good.com/a/img/b", "https://good.com//img/b"],
                [
                    "https://good.com/a/b/img/c", "https://good.com/a?/img/b", "https://good.com/img/b",
                ]
            ),
            (
                "https://good.com/a*c/d",
                ["https://good.com/abc/d", "https://good.com/ac/de", "https://good.com/accc/d"],
                [
                    "https://good.com/ab/c/d", "https://good.com/acd/d", "https://good.com/a?c/d",
                ]
            ),
            (
                "https://good.com/*.jpg", ["https://good.com/a.jpg", "https://good.com/a.jpg?b"],
                [
                    "https://good.com/a/b.jpg", "https://good.com/a?.jpg", "https://good.com/a.png",
                ]
            ),
            ("http://good.com:8080/", ["http://good.com:8080/a"], ["http://good.com/a", "http://good.com:8081/a"]),
            ("http://good.com:80/", ["http://good.com/a"], ["http://good.com:81/a"]),
            ("http://good.com:*/", ["http://good.com/a", "http://good.com:81/a"], ["http://good.org:81/a"]),
            (
                "http://[::1]:81/", ["http://[::1]:81/a", "http://[0:0::1]:81/a"],
                ["http://[::1]/a", "http://[::2]:81/a"]
            ),
            ("http://GOOD.com/A", ["http://good.com/A"], ["http://good.com/a"]),
            (
                "http://bücher.de/".replacingOccurrences(of: "bücher", with: "xn--bcher-kva"),
                ["http://xn--bcher-kva.de/"], []
            ),
            ("https://", ["https://any.org/a", "https://any.org:81/a"], ["http://any.org/a"]),
            ("s3://", ["s3://bucket/a"], ["https://bucket/a"]),
            ("s3://bucket", ["s3://bucket/a"], ["s3://bucket2/a", "s3://Bucket/a"]),
            ("s3://bucket-*/img/", ["s3://bucket-1/img/a"], ["s3://bucket-1/a/img/a", "s3://bucket/img/a"]),
            ("local:///public/", ["local:///public/a"], ["local:///private/a", "local:///a"]),
            (
                "s3://b/a%2Bb/", ["s3://b/a+b/c", "s3://b/a%2bb/c", "s3://b/%61%2Bb%2Fc"],
                ["s3://b/a%252Bb/c", "s3://b/a/c", "s3://b/a%20b/c"]
            ),
            (
                "s3://b/my folder/", ["s3://b/my%20folder/a", "s3://b/%6dy%20folder%2fa"],
                ["s3://b/my+folder/a", "s3://b/my%2520folder/a", "s3://b/my/a"]
            ),
            ("s3://b/%6Dy%20folder/", ["s3://b/my%20folder/a"], ["s3://b/my%20folders/a"]),
            ("s3://b/ä%2f*%2Fc/", ["s3://b/%C3%A4/x/c/d"], ["s3://b/%C3%A4/x/y/c/d", "s3://b/a/x/c/d"]),
            ("s3://b/%2A/", ["s3://b/*/a", "s3://b/%2a/a"], ["s3://b/x/a"]),
            ("s3://b/a%3F/", ["s3://b/a%3F/c"], ["s3://b/a?/c"]),
            ("local:///my folder/100%25/", ["local:///my%20folder/100%25/a"], ["local:///my/100%25/a"]),
        ]
        for row in rows {
            let rules = try SourceRules(allowed: [row.rule], schemes: ["http", "https", "s3", "local"])
            for text in row.allowed {
                #expect(throws: Never.self, "\(row.rule) for \(text)") { try rules.check(text) }
            }
            for text in row.refused {
                let error = failure { try rules.check(text) }
                #expect(error == .source(.notAllowed), "\(row.rule) for \(text)")
            }
        }
        #expect(ImageURLError.source(.notAllowed).status == 403)
    }

    @Test func severalRulesAndNone() throws {
        let rules = try SourceRules(allowed: ["http://a.org/", " https://b.org/ "])
        #expect(throws: Never.self) { try rules.check("http://a.org/x") }
        #expect(throws: Never.self) { try rules.check("https://b.org/x") }
        #expect(failure { try rules.check("https://a.org/x") } == .source(.notAllowed))
        let all = try SourceRules()
        #expect(throws: Never.self) { try all.check("https://c.org/x") }
        for text in [
            "s3://a/b", "file://localhost/etc/passwd", "local:///a", "ftp://a.org/b", "gopher://a.org/b",
            "javascript://a/b",
        ] {
            #expect(failure { try all.check(text) } == .source(.scheme), "\(text)")
        }
        #expect(failure { try all.check("file:///etc/passwd") } == .source(.host))
        #expect(failure { try all.check("data:image/png;base64,AAAA") } == .source(.relative))
    }

    @Test func settingsThatAreNone() {
        for rule in [
            "", "*", "good.com", "//good.com", "http:/good.com", "http://a@good.com/", "http://good.com:x/",
            "http://good.com:0/",
            "http://good.com:/", "http://gööd.com/", "http://good.com/../", "http://good com/", "http://a%2eb/",
            "http://a?b", "s3://b/100%/", "s3://b/a%00/", "s3://b/%2e%2E/", "s3://b/a%2f../", "s3://b/a?b",
            "local:///%*/",
        ] {
            #expect(throws: ConfigurationError.self, "\(rule)") { try SourceRules(allowed: [rule]) }
        }
        for base in ["", "good.com", "http://good.com/../", "http://a@good.com/", "images/"] {
            #expect(throws: ConfigurationError.self, "\(base)") { try SourceRules(baseURL: base) }
        }
        for schemes in [["file"], ["HTTP"], ["http:"], [""], ["http", "file"]] as [Set<String>] {
            #expect(throws: ConfigurationError.self, "\(schemes)") { try SourceRules(schemes: schemes) }
        }
    }

    @Test func baseURL() throws {
        let rules = try SourceRules(baseURL: "https://good.com/img/")
        #expect(try rules.resolve("a/b.jpg").description == "https://good.com/img/a/b.jpg")
        #expect(try rules.resolve("https://good.com/img/a.jpg").description == "https://good.com/img/a.jpg")
        #expect(try rules.resolve("http://evil.org/a").description == "https://good.com/img/http://evil.org/a")
        for text in ["../a", "a/../../b", "%2e%2e/a", "..%2fa"] {
            #expect(failure { try rules.resolve(text) } == .source(.dots), "\(text)")
        }
        // A base that does not end with a slash could become another host.
        let open = try SourceRules(baseURL: "https://good.com")
        #expect(try open.resolve("/a").description == "https://good.com/a")
        for text in [
            ".evil.org/a", "@evil.org/a", ":81/a", "evil.org/a", ":443@evil.org/", "#@evil.org",
            "https://good.com.evil.org/a",
            "https://good.com@evil.org/a", "\\@evil.org/a", "%2eevil.org/a",
        ] {
            #expect(failure { try open.resolve(text) } != nil, "\(text)")
        }
        // Rules hold for what the base makes of a source, and redirects know no base.
        let both = try SourceRules(allowed: ["https://good.com/img/public/"], baseURL: "https://good.com/img/")
        #expect(throws: Never.self) { try both.resolve("public/a") }
        #expect(failure { try both.resolve("private/a") } == .source(.notAllowed))
        #expect(failure { try both.check("public/a") } == .source(.relative))
        #expect(failure { try both.check("https://evil.org/img/public/a") } == .source(.notAllowed))
    }
}
