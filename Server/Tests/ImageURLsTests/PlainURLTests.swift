import ImageURLs
import Testing

/// Halcyon's own URLs.
@Suite struct PlainURLTests {
    @Test func words() throws {
        let rows: [(String, (inout ImageJob) -> Void)] = [
            ("_", { _ in }),
            (
                "fit-320x240,webp,q80",
                {
                    ($0.resize.width, $0.resize.height) = (.pixels(320), .pixels(240))
                    ($0.output.format, $0.output.quality) = (.webp, 80)
                }
            ),
            ("fill-320x", { ($0.resize.mode, $0.resize.width, $0.resize.height) = (.fill, .pixels(320), .follows) }),
            (
                "fill-down-1x2",
                { ($0.resize.mode, $0.resize.width, $0.resize.height) = (.fillDown, .pixels(1), .pixels(2)) }
            ),
            ("force-x240", { ($0.resize.mode, $0.resize.width, $0.resize.height) = (.force, .follows, .pixels(240)) }),
            (
                "auto-1x2,enlarge",
                {
                    ($0.resize.mode, $0.resize.width, $0.resize.height) = (.auto, .pixels(1), .pixels(2))
                    $0.resize.enlarge = true
                }
            ),
            ("crop-10x", { $0.crop = .area(width: .pixels(10), height: .fraction(1)) }),
            ("top", { $0.gravity = .compass(.top) }), ("bottom-left", { $0.gravity = .compass(.bottomLeft) }),
            ("center", { _ in }), ("smart", { $0.gravity = .smart }),
            ("focus-0.25-1", { $0.gravity = .focus(x: 0.25, y: 1) }),
            ("best", { $0.output.isSmallest = true }), ("jpg", { $0.output.format = .jpeg }),
            ("avif", { $0.output.format = .avif }),
            ("ssim-85", { $0.output.target = .init(score: 85) }),
            ("ssim-79.5,max-9", { ($0.output.target, $0.output.maxBytes) = (.init(score: 79.5), 9) }),
            ("max-20000", { $0.output.maxBytes = 20_000 }), ("dpr1.5", { $0.resize.dpr = 1.5 }),
            (
                "pixelate-4,sharpen-1,blur-2.5",
                { $0.effects = [.blur(sigma: 2.5), .sharpen(sigma: 1), .pixelate(side: 4)] }
            ),
            ("rotate-90", { $0.quarterTurns = 1 }),
            ("mirror,flip", { $0.flip = .init(horizontal: true, vertical: true) }),
            ("trim", { $0.trim = .init() }), ("trim-10", { $0.trim = .init(tolerance: .channel(10)) }),
            ("pad-5", { $0.padding = .init(top: 5, right: 5, bottom: 5, left: 5) }),
            ("extend", { $0.extend = .center }),
            ("bg-f80", { $0.background = .init(red: 255, green: 136, blue: 0) }),
            ("keep-metadata", { ($0.metadata.strip, $0.metadata.stripProfile) = (false, false) }),
            ("original", { $0.raw = true }), ("download", { $0.attachment = true }),
            ("expires-1893456000", { $0.expires = 1_893_456_000 }), ("v-2b", { $0.cachebuster = "2b" }),
        ]
        for (text, change) in rows {
            let result = Result { try plain(text) }
            #expect((try? result.get()) == job(change), "\(text): \(result)")
        }
        #expect(try plain("fit-1x2,q3,png").canonicalText == plain("png,fit-1x2,q3").canonicalText)
        // The same job in two languages.
        #expect(try plain("fit-320x240,webp,q80") == imgproxy("rs:fit:320:240/f:webp/q:80"))
        #expect(try plain("fit-320x240,ssim-85") == imgproxy("rs:fit:320:240/aq:ssim:85"))
    }

    @Test func wordsThatAreNone() {
        for word in """
        fit fit- fit-x fit-0x1 fit-1x fit-1x2x3 fit-100001x1 fit-1.5x2 fit--1x2 cover-1x2 q q0 q101 q8a qq dpr dpr0 dpr17
        blur- blur-0 blur-501 blur-nan sharpen-x pixelate-1 rotate-45 rotate-360 max-0 max-x pad--1 bg-ggg bg-12 trim-256
        focus-1 focus-2-0 focus-0-0-0 focus-a-b expires-0 expires-x v- v-a.b svg ico nonsense Top fit-1x1,fit-2x2 top,left
        ssim- ssim ssim-101 ssim-x ssim-80,q5 q5,ssim-80 ssim-80-90 png,jpg png,best q1,q2 mirror,mirror _,_ , fit-1x1, ,png expires-99999999999999999999
        """.split(whereSeparator: \.isWhitespace) where word != "fit-1x" {
            switch failure(of: { try plain(String(word)) }) {
            case .invalid?, .unsupported?: break
            case let error: Issue.record("\(word): \(String(describing: error))")
            }
        }
        #expect(failure { try plain("nonsense") } == .unsupported("nonsense"))
        #expect(failure { try plain("fit-50000x1,dpr3") } != nil)
    }

    @Test func sources() throws {
        let url = PlainURL(keys: try .imgproxy([], policy: .unsignedWithoutKeys))
        let rows = [
            ("https://a.org/b.jpg", "https://a.org/b.jpg"), ("https:/a.org/b.jpg", "https://a.org/b.jpg"),
            ("https://a.org/b.jpg?c=d&e=f", "https://a.org/b.jpg?c=d&e=f"),
            ("https://a.org/b%20c.jpg?d=%25", "https://a.org/b%20c.jpg?d=%25"),
            ("https%3A%2F%2Fa.org%2Fb.jpg%3Fc%3Dd?ignored", "https://a.org/b.jpg?c=d"),
            ("https://a.org/ä.jpg", "https://a.org/%C3%A4.jpg"), ("local:/a.jpg", "local:///a.jpg"),
            ("a/b.jpg", "a/b.jpg"),
        ]
        for (text, source) in rows {
            #expect(try url.job(at: "/_/" + text).source == source, "\(text)")
        }
        for path in ["/", "/_", "/_/", "//a", "/_/%zz", "/_/%00", "/_/a b"] {
            #expect(failure { try url.job(at: path) }?.status == 404, "\(path)")
        }
    }

    @Test func signatures() throws {
        let keys = try URLKeys.imgproxy([("6b6579", "73616c74")])
        let url = PlainURL(keys: keys)
        let path = "/fit-1x2/https://a.org/b.jpg?c=d"
        let signed = url.signed(path)
        #expect(signed.hasPrefix("/s-") && signed.hasSuffix(path))
        let job = try url.job(at: signed)
        #expect(job.source == "https://a.org/b.jpg?c=d")
        #expect(try url.job(at: signed.replacing("https://", with: "https:/")) == job)
        #expect(failure { try url.job(at: path) } == .signature)
        #expect(failure { try url.job(at: signed + "e") } == .signature)
        #expect(failure { try url.job(at: "/s-" + path) } == .signature)
        #expect(failure { try url.job(at: "/s-unsafe" + path) } == .signature)
        #expect(try PlainURL(keys: .imgproxy([], policy: .unsignedWithoutKeys)).job(at: signed) == job)
        #expect(failure { try PlainURL(keys: .imgproxy([])).job(at: path) } == .signature)
        #expect(PlainURL(keys: try .imgproxy([])).signed(path) == path)
    }
}
