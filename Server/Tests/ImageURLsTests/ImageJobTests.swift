import Foundation
import ImageURLs
import Testing

/// Hints of clients, expiry, and the canonical text.
@Suite struct ImageJobTests {
    @Test func hintsFillInWhatTheURLLeavesOpen() throws {
        let open = try imgproxy("").applying(dpr: 2, width: 640)
        #expect(open == job { ($0.resize.width, $0.resize.height, $0.resize.dpr) = (.pixels(320), .follows, 2) })
        #expect(try imgproxy("").applying(dpr: nil, width: 640).resize.width == .pixels(640))
        #expect(try imgproxy("").applying(dpr: 3, width: 1).resize.width == .pixels(1))
        #expect(try imgproxy("h:7").applying(dpr: 1, width: 640).resize.width == .pixels(640))

        // A width or ratio in the URL wins, also one of 0.
        for options in ["w:5", "rs:fit:5", "w:0", "s:0:5"] {
            let stated = try imgproxy(options)
            #expect(stated.applying(dpr: nil, width: 640).resize.width == stated.resize.width, "\(options)")
        }
        #expect(try imgproxy("dpr:1").applying(dpr: 2, width: nil).resize.dpr == 1)
        #expect(try thumbor("10x/" + picture).applying(dpr: 2, width: 640) == thumbor("10x/" + picture))
        #expect(try plain("fit-x10").applying(dpr: nil, width: 640).resize.width == .follows)
        #expect(try plain("webp").applying(dpr: nil, width: 640).resize.width == .pixels(640))
    }

    @Test func hintsThatMakeNoSense() throws {
        let none = try imgproxy("").applying(dpr: nil, width: nil)
        for (dpr, width) in [
            (0, nil), (-1, nil), (.nan, nil), (.infinity, nil), (17, nil), (nil, 0), (nil, -1), (nil, 100_001),
            (nil, .max),
            (nil, .min),
        ] as [(Double?, Int?)] {
            #expect(try imgproxy("").applying(dpr: dpr, width: width) == none, "\(String(describing: (dpr, width)))")
        }
        #expect(try imgproxy("").applying(dpr: 1e-300, width: 100_000).resize.width == .pixels(100_000))
        // No hint makes the result larger than a side may be.
        let large = try imgproxy("h:60000").applying(dpr: 2, width: 100)
        #expect(large.resize.dpr == 1 && large.resize.width == .follows && large.resize.height == .pixels(60_000))
        #expect(try imgproxy("z:50").applying(dpr: nil, width: 5000).resize.width == .follows)
    }

    @Test func expiry() throws {
        let job = try imgproxy("exp:1000")
        #expect(!job.isExpired(now: 999))
        #expect(!job.isExpired(now: 1000))
        #expect(job.isExpired(now: 1001))
        for options in ["", "exp:0", "exp:-5", "exp:-9223372036854775808"] {
            #expect(try !imgproxy(options).isExpired(now: .max), "\(options)")
        }
        #expect(try imgproxy("exp:9223372036854775807").isExpired(now: .max) == false)
    }

    @Test func sourcesToCheck() throws {
        #expect(try imgproxy("wm:1").sources == [picture])
        #expect(try thumbor("filters:watermark(b.org/c,1,1,1)/" + picture).sources == [picture, "http://b.org/c"])
        var raw = try thumbor("filters:watermark(b.org/c,1,1,1)/" + picture)
        raw.raw = true
        #expect(raw.sources == [picture])
        #expect(job { $0.watermark = .init(picture: .url("x")) }.sources == [picture, "x"])
    }

    @Test func qualityOfAFormat() throws {
        let job = try imgproxy("fq:jpg:70:webp:60")
        #expect(
            job.output.quality(of: .jpeg) == 70 && job.output.quality(of: .webp) == 60
                && job.output.quality(of: .png) == nil)
        #expect(try imgproxy("fq:jpg:70/q:50").output.quality(of: .jpeg) == 50)
        #expect(try imgproxy("fq:jpg:70/fq:jpg:0").output.quality(of: .jpeg) == nil)
    }

    @Test func oneTextForOneJob() throws {
        #expect(job().canonicalText == "source:http%3A%2F%2Fexample.com%2Fa.jpg")
        #expect(
            try imgproxy("rs:fill:300:400/bl:2/q:70").canonicalText
                == "mode:fill/size:300:400/blur:2.0:-/quality:70/source:http%3A%2F%2Fexample.com%2Fa.jpg")
        for (first, second) in [
            ("rs:fit:1:2/q:3", "q:3/h:2/w:1"), ("fq:jpg:1:png:2", "fq:png:2:jpeg:1"),
            ("skp:gif:png", "skp:png:gif:gif"),
            ("g:no:-0", "g:no:0"), ("g:no", "gravity:no:0:0"), ("w:0", ""), ("dpr:1", ""), ("c:0:0", ""), ("wm:0", ""),
            ("sh:1/bl:2", "bl:2/sh:1"), ("exp:5/fn:a/att:1", ""), ("bg:fff", "bg:255:255:255"), ("raw:1/w:5", "raw:1"),
            ("q:5/fq:jpg:3", "q:5"), ("aq:ssim:80/q:5", "fq:jpg:3/aq:ssim:80:0:100:1"), ("aq:ssim:80/aq:none", ""),
            ("f:best/f:png", "f:png"), ("f:png/f:best", "f:best"),
        ] {
            #expect(try imgproxy(first).canonicalText == imgproxy(second).canonicalText, "\(first) and \(second)")
        }
    }

    /// Jobs that differ in what their bytes are have different texts, also where a text tries to look like another.
    @Test func differentTextsForDifferentJobs() throws {
        var options = """
            w:1 w:11 h:1 mw:1 mh:1 rs:fill rs:fill-down rs:force rs:auto z:2 z:2:1 z:1:2 dpr:2 el:1 ex:1 ex:1:no exar:1 g:no g:so
            g:no:1 g:no:0.1 g:no:0:1 g:sm g:fp:0:1 g:fp:1:0 c:1:1 c:0.5:1 c:1:0 c:1:1:no c:1:1:ce t:1 t:0 t:1:fff t:0::1 t:0:::1
            pd:1 pd:0:1 pd:0:0:1 pd:0:0:0:1 ar:0 rot:90 rot:180 rot:270 fl:1 fl:0:1 fl:1:1 bg:fff bg:000 bl:1 bl:1.5 sh:1 pix:2
            wm:1 wm:0.5 wm:1:no wm:1:re wm:1:ce:1 wm:1:ce:0:1 wm:1:ce:0:0:1 wm:1:re:1 sm:0 kcr:0 scp:0 eth:1 q:1 fq:jpg:1
            fq:png:1 aq:ssim:1 aq:ssim:2 aq:ssim:1:1 aq:ssim:1:0:99 aq:ssim:1:0:100:2 mb:1 f:png f:jpg f:best skp:png skp:gif skp:png:gif raw:1 cb:a cb:b cb:a%2Fsource msr:1 msfs:1 maf:1 mafr:1 mrd:1
            """.split(whereSeparator: \.isWhitespace).map(String.init)
        options.append("")
        var configuration = ImgproxyURL.Configuration()
        configuration.allowsLimits = true
        var texts = try options.map { try imgproxy($0, configuration).canonicalText }
        texts += try ["a", "a/q:1", "a:b", "a%253Ab", "quality:1/source:a"].map {
            try imgproxy(path: "/plain/" + $0).canonicalText
        }
        texts += try """
        1x 1x1 -1x x-1 trim trim:1 trim:bottom-right 1x1:2x2 1x1:2x3 fit-in/1x1 full-fit-in/1x1 adaptive-fit-in/1x1
        adaptive-full-fit-in/1x1 origx origx1 filters:blur(1) filters:blur(2,1) filters:sharpen(1,2,0) filters:sharpen(2,1,0)
        filters:sharpen(1,2,1) filters:brightness(1) filters:contrast(1) filters:saturation(1) filters:rgb(1,0,0)
        filters:rgb(0,1,0) filters:grayscale() filters:rotate(90) filters:fill(red) filters:fill(red,1) filters:fill(auto)
        filters:fill(blur) filters:fill(transparent) filters:round_corner(1,2,3,4) filters:round_corner(1|2,2,3,4)
        filters:round_corner(1,2,3,4,1) filters:watermark(a,1,1,1) filters:watermark(b,1,1,1) filters:watermark(a,-1,1,1)
        filters:watermark(a,1p,1,1) filters:watermark(a,-1p,1,1) filters:watermark(a,center,1,1)
        filters:watermark(a,repeat,1,1) filters:watermark(a,1,1,2) filters:watermark(a,1,1,1,1) filters:watermark(a,1,1,1,0,1)
        filters:focal(1x1:2x2) filters:focal(1x1:2x2):focal(1x1:2x3) filters:autojpg() filters:autojpg(0) filters:strip_icc()
        filters:grayscale():blur(1) filters:blur(1):grayscale()
        """.split(whereSeparator: \.isWhitespace).map { try thumbor($0 + "/" + picture).canonicalText }
        let twice = Dictionary(grouping: texts, by: \.self).filter { $0.value.count > 1 }
        #expect(twice.isEmpty, "\(twice.keys)")
        #expect(texts.allSatisfy { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } })
    }

    @Test func errorsInOneLine() {
        let errors: [ImageURLError] = [
            .tooLong, .path("reason"), .signature, .unsupported("a\nb\u{1B}ä"), .forbidden("\r"), .tooManyOptions,
            .invalid(option: "w", argument: "\u{0}\n", reason: "reason"), .source(.dots),
        ]
        for error in errors {
            #expect(error.description.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(error)")
            #expect([403, 404, 414, 422].contains(error.status))
        }
        let long = failure { try imgproxy("w:" + String(repeating: "a", count: 5000)) }
        #expect((long?.description.utf8.count ?? .max) < 300)
        #expect(
            (failure { try imgproxy(String(repeating: "a", count: 5000) + ":1") }?.description.utf8.count ?? .max) < 300
        )
    }
}
