import Foundation
import ImageURLs
import Testing

/// thumbor's grammar and filters.
@Suite struct ThumborURLTests {
    /// The job of a path without options in it.
    private func job(_ change: (inout ImageJob) -> Void = { _ in }) -> ImageJob {
        var job = ImageJob(source: picture)
        job.resize.rules = .thumbor
        (job.resize.mode, job.resize.enlarge, job.resize.dpr) = (.fill, true, 1)
        (job.resize.width, job.resize.height) = (.follows, .follows)
        (job.metadata.keepCopyright, job.metadata.stripProfile) = (false, false)
        change(&job)
        return job
    }

    private func filters(_ text: String) throws -> ImageJob {
        try thumbor("filters:\(text.replacing(" ", with: "%20"))/\(picture)")
    }

    @Test func parts() throws {
        #expect(try thumbor(picture) == job())
        #expect(
            try thumbor("300x200/" + picture)
                == job { ($0.resize.width, $0.resize.height) = (.pixels(300), .pixels(200)) })
        #expect(try thumbor("300x/" + picture) == job { $0.resize.width = .pixels(300) })
        #expect(try thumbor("x200/" + picture) == thumbor("0x200/" + picture))
        #expect(
            try thumbor("origx20/" + picture) == job { ($0.resize.width, $0.resize.height) = (.original, .pixels(20)) })
        #expect(
            try thumbor("-30x-0/" + picture)
                == job {
                    $0.resize.width = .pixels(30)
                    $0.effects = [.flip(.init(horizontal: true, vertical: true))]
                })
        #expect(try thumbor("x-/" + picture) == job { $0.effects = [.flip(.init(vertical: true))] })
        #expect(try thumbor("trim/" + picture) == job { $0.trim = .init(tolerance: .distance(0)) })
        #expect(
            try thumbor("trim:bottom-right:442/" + picture)
                == job {
                    $0.trim = .init(tolerance: .distance(442), border: .bottomRight)
                })
        #expect(try thumbor("trim:50/" + picture) == job { $0.trim = .init(tolerance: .distance(50)) })
        #expect(
            try thumbor("10x20:30x40/" + picture)
                == job { $0.crop = .box(.init(left: 10, top: 20, right: 30, bottom: 40)) })
        #expect(try thumbor("0x0:0x0/" + picture) == job())
        #expect(try thumbor("smart/" + picture) == job { $0.gravity = .smart })
    }

    @Test func fits() throws {
        let rows: [(String, ImageJob.Resize.Mode, Bool, Bool)] = [
            ("fit-in", .fit, false, false), ("full-fit-in", .cover, true, false),
            ("adaptive-fit-in", .fit, false, true),
            ("adaptive-full-fit-in", .cover, true, true),
        ]
        for (word, mode, enlarge, adaptive) in rows {
            #expect(
                try thumbor("\(word)/30x20/\(picture)")
                    == job {
                        ($0.resize.width, $0.resize.height) = (.pixels(30), .pixels(20))
                        ($0.resize.mode, $0.resize.enlarge, $0.resize.adaptive) = (mode, enlarge, adaptive)
                    })
        }
        #expect(try thumbor("fit-in/30x20/filters:upscale()/" + picture).resize.enlarge)
        #expect(try thumbor("30x20/filters:no_upscale()/" + picture).resize.staysWithinSource)
        #expect(try thumbor("30x20/filters:stretch()/" + picture).resize.mode == .force)
        #expect(try thumbor("fit-in/30x20/filters:stretch()/" + picture).resize.mode == .fit)
    }

    @Test func alignments() throws {
        let rows: [(String, ImageJob.Compass)] = [
            ("left", .left), ("right", .right), ("center", .center), ("top", .top), ("middle", .center),
            ("bottom", .bottom),
            ("left/top", .topLeft), ("left/middle", .left), ("left/bottom", .bottomLeft), ("right/top", .topRight),
            ("right/middle", .right), ("right/bottom", .bottomRight), ("center/top", .top), ("center/bottom", .bottom),
        ]
        for (words, place) in rows {
            #expect(try thumbor("\(words)/\(picture)") == job { $0.gravity = .compass(place) }, "\(words)")
        }
    }

    /// Paths of the grammar's words in any order, divided as thumbor's own pattern divides them.
    @Test func pathsAsLibthumborDividesThem() throws {
        let rows = try Answers.read().thumborPaths
        #expect(rows.count == 600)
        for row in rows {
            let job = try thumbor(String(row[0].dropFirst()))
            var trim = ""
            if let border = job.trim {
                trim = border == .init(tolerance: .distance(0)) ? "trim" : "trim:bottom-right:7"
            }
            #expect(trim == row[1].replacingOccurrences(of: ":top-left", with: ""), "\(row)")
            var crop = "0x0x0x0"
            if case .box(let box)? = job.crop { crop = "\(box.left)x\(box.top)x\(box.right)x\(box.bottom)" }
            #expect(crop == row[2], "\(row)")
            var fit = job.resize.mode == .fill ? "" : job.resize.mode == .cover ? "full-fit-in" : "fit-in"
            if job.resize.adaptive { fit = "adaptive-" + fit }
            #expect(fit == row[3], "\(row)")
            var flip = ImageJob.Flip()
            if case .flip(let found)? = job.effects.first { flip = found }
            let width = (flip.horizontal ? "-" : "") + text(of: job.resize.width)
            #expect("\(width)x\(flip.vertical ? "-" : "")\(text(of: job.resize.height))" == row[4], "\(row)")
            let isSmart = job.gravity == .smart
            #expect(isSmart == !row[7].isEmpty, "\(row)")
            if !isSmart { #expect(job.gravity == gravity(row[5], row[6]), "\(row)") }
            #expect(job.source == "http://" + row[8], "\(row)")
        }
    }

    private func text(of side: ImageJob.Resize.Side) -> String {
        switch side {
        case .pixels(let count): "\(count)"
        case .original: "orig"
        case .unset, .follows: "0"
        }
    }

    private func gravity(_ horizontal: String, _ vertical: String) -> ImageJob.Gravity {
        let place: [String: ImageJob.Compass] = [
            "left top": .topLeft, "left middle": .left, "left bottom": .bottomLeft, "center top": .top,
            "center middle": .center, "center bottom": .bottom, "right top": .topRight, "right middle": .right,
            "right bottom": .bottomRight,
        ]
        return .compass(place["\(horizontal) \(vertical)"] ?? .center)
    }

    @Test func filtersOfOutput() throws {
        #expect(try filters("quality(40)") == job { $0.output.quality = 40 })
        #expect(try filters("format(webp)") == job { $0.output.format = .webp })
        #expect(try filters("format(JPG)") == job { $0.output.format = .jpeg })
        #expect(try filters("format( heif )") == job { $0.output.format = .heic })
        #expect(try filters("max_bytes(4000)") == job { $0.output.maxBytes = 4000 })
        #expect(try filters("autojpg()") == job { $0.output.opaqueAsJPEG = true })
        #expect(try filters("autojpg(False)") == job { $0.output.opaqueAsJPEG = false })
        #expect(try filters("strip_icc()") == job { $0.metadata.stripProfile = true })
        #expect(try filters("strip_exif()") == job())
    }

    @Test func filtersOfPixels() throws {
        let rows: [(String, ImageJob.Effect)] = [
            ("blur(7)", .blur(sigma: 7, radius: 7)), ("blur(7, 2.5)", .blur(sigma: 2.5, radius: 7)),
            ("blur(200,3)", .blur(sigma: 3, radius: 150)), ("blur(4,0)", .blur(sigma: 4, radius: 4)),
            ("sharpen(2,1.0,true)", .wavelet(amount: 2, radius: 1, luminanceOnly: true)),
            ("brightness(-40)", .brightness(-40)), ("contrast(40)", .contrast(40)),
            ("saturation(1.4)", .saturation(1.4)),
            ("rgb(20,-20, 40)", .channels(red: 20, green: -20, blue: 40)), ("grayscale()", .grayscale),
            ("rotate(90)", .rotate(quarterTurns: 3)), ("rotate(-90)", .rotate(quarterTurns: 1)),
            ("rotate(540)", .rotate(quarterTurns: 2)),
            ("fill(red)", .fill(.color(.init(red: 255, green: 0, blue: 0)), behindTransparency: false)),
            ("fill(F00,1)", .fill(.color(.init(red: 255, green: 0, blue: 0)), behindTransparency: true)),
            ("fill(00ff80)", .fill(.color(.init(red: 0, green: 255, blue: 128)), behindTransparency: false)),
            ("fill(auto)", .fill(.mean, behindTransparency: false)),
            ("fill(blur,true)", .fill(.blurred, behindTransparency: true)),
            ("background_color(red)", .background(.init(red: 255, green: 0, blue: 0))),
            ("background_color(12aB34)", .background(.init(red: 18, green: 171, blue: 52))),
            ("proportion(0.25)", .scale(0.25)), ("proportion(.5)", .scale(0.5)),
            ("fill(transparent)", .fill(.transparent, behindTransparency: false)),
            (
                "round_corner(20,255,254,0)",
                .roundedCorners(x: 20, y: 20, color: .init(red: 255, green: 254, blue: 0), transparent: false)
            ),
            (
                "round_corner(20|30,1,2,3,1)",
                .roundedCorners(x: 20, y: 30, color: .init(red: 1, green: 2, blue: 3), transparent: true)
            ),
        ]
        for (text, effect) in rows {
            let result = Result { try filters(text) }
            #expect((try? result.get()) == job { $0.effects = [effect] }, "\(text): \(result)")
        }
        #expect(try filters("rotate(360)") == job())
        #expect(try filters("proportion(1)") == job())
        // The order of filters is the order of the work, and the mirror comes first.
        #expect(
            try thumbor("-10x/filters:grayscale():blur(1):grayscale()/" + picture).effects
                == [.flip(.init(horizontal: true)), .grayscale, .blur(sigma: 1, radius: 1), .grayscale])
    }

    @Test func watermarks() throws {
        let rows: [(String, ImageJob.Watermark)] = [
            (
                "watermark(http://a.org/b.png,-10,center,50)",
                .init(picture: .url("http://a.org/b.png"), fade: 0.5, position: .axes(x: .fromEnd(10), y: .center))
            ),
            (
                "watermark(a.org/b.png,10p,-20p,0,20,none)",
                .init(
                    picture: .url("http://a.org/b.png"),
                    position: .axes(x: .percentFromStart(10), y: .percentFromEnd(20)),
                    size: .percent(width: 20, height: nil))
            ),
            (
                "watermark('http://a.org/b,c.png',repeat,-0,100,none,0)",
                .init(picture: .url("http://a.org/b,c.png"), fade: 1, position: .axes(x: .tiled, y: .fromEnd(0)))
            ),
            (
                "watermark(http%3A%2F%2Fa.org%2F%C3%A4.png,0,0,0,none,30)",
                .init(
                    picture: .url("http://a.org/%C3%A4.png"), position: .axes(x: .fromStart(0), y: .fromStart(0)),
                    size: .percent(width: nil, height: 30))
            ),
        ]
        for (text, mark) in rows {
            let result = Result { try filters(text) }
            #expect((try? result.get()) == job { $0.effects = [.watermark(mark)] }, "\(text): \(result)")
        }
        #expect(
            try filters("watermark(a.org/b.png,0,0,0):watermark(b.org/c.png,0,0,0)").sources
                == [picture, "http://a.org/b.png", "http://b.org/c.png"])
    }

    @Test func focalPoints() throws {
        #expect(
            try filters("focal(0x1:20x30):focal(5x5:6x6)")
                == job {
                    $0.gravity = .regions([
                        .init(left: 0, top: 1, right: 20, bottom: 30), .init(left: 5, top: 5, right: 6, bottom: 6),
                    ])
                })
    }

    @Test func sources() throws {
        let rows = [
            ("a.org/b.jpg", "http://a.org/b.jpg"), ("https://a.org/b.jpg", "https://a.org/b.jpg"),
            ("https:/a.org/b.jpg", "https://a.org/b.jpg"),
            ("https%3A%2F%2Fa.org%2Fb.jpg%3Fc%3Dd", "https://a.org/b.jpg?c=d"),
            ("http://a.org/b%20c.jpg", "http://a.org/b%20c.jpg"),
            ("http://a.org/b%2520c.jpg", "http://a.org/b%20c.jpg"),
            ("10x10/smart/10x10", "http://10x10"), ("meta", "http://meta"), ("a.jpg?b=c", "http://a.jpg"),
            ("filters:quality(1)/x/filters:quality(2)/y", "http://x/filters:quality(2)/y"),
            ("ä.jpg", "http://%C3%A4.jpg"),
        ]
        for (path, source) in rows {
            #expect(try thumbor(path).source == source, "\(path)")
        }
        var configuration = ThumborURL.Configuration()
        configuration.defaultScheme = nil
        let url = ThumborURL(keys: try .thumbor([], policy: .unsafeAllowed), configuration: configuration)
        #expect(try url.job(at: "/unsafe/10x10/a/b.jpg").source == "a/b.jpg")

        let signer = ThumborURL(keys: try .thumbor(["key"]))
        let signed = signer.signed("/10x10/https://a.org/b.jpg")
        #expect(try signer.job(at: signed.replacingOccurrences(of: "//", with: "/")) == signer.job(at: signed))
    }

    /// Without a key the first part is a signature by its form alone, so that no other language's first part passes for one.
    @Test func signaturesByTheirForm() throws {
        let url = ThumborURL(keys: try .thumbor([], policy: .unsignedWithoutKeys))
        let made = try #require(URLKeys.thumbor(["any key"]).signature(of: "/10x10/a.jpg"))
        for name in ["unsafe", made, made.replacing("=", with: "%3D"), String(repeating: "-", count: 26) + "8="] {
            #expect(try url.job(at: "/\(name)/10x10/a.jpg").source == "http://a.jpg", "\(name)")
        }
        for name in [
            "_", "insecure", "Unsafe", "unsafe=", "fit-48x48", "fit-in", "48x48", "s-abc", "trim", "rs:fit:48:48",
            "info",
            String(made.dropLast()), made + "=", "=" + made.dropFirst(), String(repeating: "-", count: 28),
            String(repeating: "A", count: 26) + "B=", String(repeating: "A", count: 28), "+" + made.dropFirst(),
            String(repeating: "ä", count: 13) + "A=", String(repeating: "A", count: 42) + "=",
        ] {
            #expect(failure { try url.job(at: "/\(name)/10x10/a.jpg") }?.status == 404, "\(name)")
        }
    }

    @Test func partsThatAreRefusedByName() throws {
        #expect(failure { try thumbor("meta/a.jpg") } == .unsupported("meta"))
        #expect(failure { try thumbor("debug/a.jpg") } == .unsupported("debug"))
        for name in """
        colorize convolution cover curve distributed_collage equalize extract_focal frame max_age noise
        red_eye srgb nonsense Blur
        """.split(whereSeparator: \.isWhitespace) {
            #expect(failure { try filters("\(name)(1)") } == .unsupported("filters:\(name)"))
        }
    }

    @Test func argumentsThatAreNotValid() {
        let rows = """
            quality() quality(0) quality(101) quality(a) quality(1,2) quality(1 quality format() format(bmpx) format(png,jpg)
            max_bytes(-1) max_bytes(9999999999) autojpg(2) strip_icc(1) strip_exif(1) upscale(1) no_upscale(x) stretch(1)
            focal() focal(1x2) focal(5x5:5x9) focal(9x9:1x1) focal(100001x1:100002x2) blur() blur(0) blur(-1) blur(1.5)
            blur(1,-1) blur(1,nan) blur(501) blur(1,2,3) sharpen(1,2) sharpen(1,2,3) sharpen(a,1,1) sharpen(1,1,1,1)
            brightness() brightness(101) brightness(1.5) contrast(-101) saturation() saturation(inf) saturation(1e9) rgb(1,2)
            rgb(1,2,101) rgb(1,2,3,4) grayscale(1) rotate() rotate(45) rotate(90.5) proportion()
            proportion(0) proportion(-0.5) proportion(1.01) proportion(nan) proportion(0.5,1) background_color()
            background_color(nocolor) background_color(ff) background_color(red,1) fill() fill(nocolor) fill(ff) fill(red,2)
            fill(red,1,1) round_corner() round_corner(1) round_corner(1,2,3) round_corner(1,2,3,256) round_corner(1|2|3,0,0,0)
            round_corner(1|,0,0,0) round_corner(-1,0,0,0) round_corner(1,0,0,0,0,0) watermark() watermark(a) watermark(a,1,2)
            watermark(a,x,1,1) watermark(a,1,1p1,1) watermark(a,1,1,101) watermark(a,1,1,1,-1) watermark(a,--1,1,1)
            watermark(a,1,1,1,1,1,1) watermark(a,999999,1,1) :quality(1) quality(1): ) () quality(1)quality(2)
            quality(%zz) quality(1);
            """.split(whereSeparator: \.isWhitespace)
        for row in rows {
            let error = failure { try filters(String(row)) }
            switch error {
            case .invalid?: #expect(error?.status == 422)
            // A name that is empty, or begins with the mark between filters, is one of no filter.
            case .unsupported? where row.hasPrefix(")") || row.hasPrefix("(") || row.hasPrefix(":"): break
            default: Issue.record("\(row): \(String(describing: error))")
            }
        }
        for path in [
            "100001x1/a", "1x99999999999999999999/a", "trim:443/a", "trim:x/a", "trim:top-left:1:2/a", "1x1:1x100001/a",
        ] {
            guard case .invalid? = failure(of: { try thumbor(path) }) else {
                Issue.record("\(path): \(String(describing: failure { try thumbor(path) }))")
                continue
            }
        }
        let many = Array(repeating: "grayscale()", count: 65).joined(separator: ":")
        #expect(failure { try filters(many) } == .tooManyOptions)
        for path in ["", "/", "unsafe", "%zz", "a%00b"] {
            guard case .path? = failure(of: { try thumbor(path) }) else {
                #expect(path == "/" || path == "unsafe", "\(path)")
                continue
            }
        }
    }
}
