import Foundation
import ImageURLs
import Testing

/// Sources, presets and repairs of imgproxy's paths.
@Suite struct ImgproxyURLTests {
    @Test func sources() throws {
        let rows: [(path: String, source: String, format: ImageJob.Format?)] = [
            ("/plain/http://example.com/a.jpg", "http://example.com/a.jpg", nil),
            ("/plain/http://example.com/a.jpg@png", "http://example.com/a.jpg", .png),
            ("/plain/http://example.com/a.jpg@", "http://example.com/a.jpg", nil),
            ("/plain/http:/example.com/a.jpg@jpg", "http://example.com/a.jpg", .jpeg),
            ("/plain/local:/a/b.jpg", "local:///a/b.jpg", nil),
            ("/plain/local:///a/b.jpg", "local:///a/b.jpg", nil),
            ("/plain/s3://bucket/a%20b.jpg", "s3://bucket/a%20b.jpg", nil),
            ("/plain/s3://bucket/a%2525%23%5C%C3%A4.jpg?1", "s3://bucket/a%2525%23%5C%C3%A4.jpg", nil),
            ("/plain/S3%3A%2F%2Fbucket%2Fa%25%3F1", "S3://bucket/a%25?1", nil),
            ("/plain/http%3A%2F%2Fexample.com%2Fa.jpg%3Fx=1%40b", "http://example.com/a.jpg?x=1@b", nil),
            ("/plain/http://example.com/100%2525.jpg", "http://example.com/100%25.jpg", nil),
            ("/plain/http://example.com/ä.jpg", "http://example.com/%C3%A4.jpg", nil),
            ("/plain/http://example.com/%C3%A4.jpg", "http://example.com/%C3%A4.jpg", nil),
            ("/plain/a.jpg?ignored=1", "a.jpg", nil),
            ("/plain/a//b@webp", "a//b", .webp),
            ("/plain/plain/a.jpg", "plain/a.jpg", nil),
            ("/w:1/plain/http://example.com/w:2/plain/x", "http://example.com/w:2/plain/x", nil),
            (
                "/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png",
                "http://example.com/images/curiosity.jpg", .png
            ),
            ("/aHR0cDovL2V4YW1wbGUuY29tL2ltYWdlcy9jdXJpb3NpdHkuanBn", "http://example.com/images/curiosity.jpg", nil),
            ("/aHR0cDovL2V4YW1wbGUuY29tL2E==", "http://example.com/a", nil),
            ("/aHR0cDovL2V4YW1wbGUuY29tL2E=.avif", "http://example.com/a", .avif),
            ("/_v-_", "\u{FE}\u{FF}\u{BF}", nil),
        ]
        for row in rows.dropLast() {
            let job = Result { try imgproxy(path: row.path) }
            #expect((try? job.get())?.source == row.source, "\(row.path): \(job)")
            #expect((try? job.get())?.output.format == row.format, "\(row.path)")
        }
        // Bytes that are no UTF-8.
        #expect(failure { try imgproxy(path: "/_v-_") } == .path("the source is not URL-safe base64"))
    }

    @Test func pathsThatAreNone() {
        for path in [
            "", "/", "/plain", "/plain/", "/w:1", "/w:1/", "/plain/@png", "/plain/a@b@png", "/plain/%zz", "/plain/a%",
            "/plain/%ff",
            "/a.b.c", "/a", "/aHR0cDov!", "/.png", "/a===", "/plain/a%00b", "/plain/a%0Ab", "/plain/a\tb", "/plain/a b",
            "/fit/300/400/ce/0/plain/a.jpg", "//plain/a.jpg", "/w%2F1/plain",
        ] {
            guard case .path? = failure(of: { try imgproxy(path: path) }) else {
                Issue.record("\(path): \(String(describing: failure { try imgproxy(path: path) }))")
                continue
            }
        }
        #expect(failure { try imgproxy(path: "/enc/abcdef") } == .unsupported("enc"))
        #expect(failure { try imgproxy(path: "/plain/a.jpg@mp4") } == .unsupported("format:mp4"))
        #expect(ImageURLError.path("").status == 404)
        let keys = try? URLKeys.imgproxy([], policy: .unsignedWithoutKeys)
        #expect(failure { try keys.map { try ImgproxyURL(keys: $0).job(at: "w:1/plain/a") } } != nil)
        #expect(failure { try keys.map { try ImgproxyURL(keys: $0).job(at: "") } } != nil)
    }

    @Test func laterOptionsWin() throws {
        #expect(try imgproxy("w:1/width:2/rs:fit:3") == job { $0.resize.width = .pixels(3) })
        #expect(try imgproxy("bl:1/bl:0") == job())
        #expect(
            try imgproxy("pix:3/sh:1/bl:2/sh:4").effects == [.blur(sigma: 2), .sharpen(sigma: 4), .pixelate(side: 3)])
        #expect(try imgproxy("bg:fff/bg:") == job())
        #expect(try imgproxy("ex:1:no/ex:0") == job())
        #expect(try imgproxy(path: "/f:png/plain/a.jpg@webp").output.format == .webp)
        // The offsets of a gravity stay, as in imgproxy, until a gravity without offsets.
        #expect(try imgproxy("g:no:1:2/g:so").gravity == .compass(.bottom, x: .pixels(1), y: .pixels(2)))
        #expect(try imgproxy("g:no:1:2/g:sm/g:so").gravity == .compass(.bottom))
        // Raw bytes have no other format.
        #expect(try imgproxy(path: "/raw:1/plain/a.jpg@webp").output.format == nil)
    }

    @Test func proxiesAreUndone() throws {
        let plain = try imgproxy(path: "/rs:fit:1:2/bg:1:2:3/plain/http://example.com/a.jpg")
        #expect(try imgproxy(path: "/rs%3Afit%3A1%3a2/bg%3A1%3A2%3A3/plain/http:/example.com/a.jpg") == plain)
        // A source that has no scheme keeps its slash, and so has one that only looks like it.
        #expect(try imgproxy(path: "/plain/a/b:/c").source == "a/b:/c")

        let keys = try URLKeys.imgproxy([("736563726574", "68656C6C6F")])
        let url = ImgproxyURL(keys: keys)
        let signed = url.signed("/rs:fit:1:2/plain/http://example.com/a%3Ab.jpg")
        let job = try url.job(at: signed)
        #expect(job.source == "http://example.com/a:b.jpg")
        let tidied = signed.replacingOccurrences(of: "rs:fit:1:2", with: "rs%3Afit%3A1%3A2")
            .replacingOccurrences(of: "http://", with: "http:/")
        #expect(try url.job(at: tidied) == job)
        // Signed with `%3A` in an option, it is read as it was signed.
        let escaped = try url.job(at: url.signed("/fn:a%3Ab/plain/http://example.com/a.jpg"))
        #expect(escaped.filename == "a:b")
    }

    @Test func otherSeparator() throws {
        var configuration = ImgproxyURL.Configuration()
        configuration.separator = ","
        #expect(try imgproxy("rs,fill,1,2", configuration) == imgproxy("rs:fill:1:2"))
        #expect(failure { try imgproxy("rs:fill:1:2", configuration) } != nil)
    }

    @Test func allowedOptions() throws {
        var configuration = ImgproxyURL.Configuration()
        configuration.allowedOptions = ["w", "preset"]
        configuration.presets = try ImgproxyPresets(["q=quality:50"])
        #expect(
            try imgproxy("width:1/pr:q", configuration)
                == job {
                    $0.resize.width = .pixels(1)
                    $0.output.quality = 50
                })
        #expect(failure { try imgproxy("q:50", configuration) } == .forbidden("q"))
        #expect(ImageURLError.forbidden("q").status == 403)
    }

    @Test func namesBehindEncodedSources() throws {
        var configuration = ImgproxyURL.Configuration()
        configuration.sourceIncludesFilename = true
        let job = try imgproxy(path: "/aHR0cDovL2V4YW1w/bGUuY29tL2E.png/cat.jpg", configuration)
        #expect(job.source == "http://example.com/a")
        #expect(job.output.format == .png)
    }

    /// Whoever runs the server has written them.
    @Test func presetsMayHaveLimits() throws {
        var configuration = ImgproxyURL.Configuration()
        configuration.presets = try ImgproxyPresets(["default=msr:50", "small=preset:default/mrd:500"])
        #expect(try imgproxy("q:50", configuration).limits.maxPixels == 50_000_000)
        #expect(try imgproxy("pr:small", configuration).limits.maxResultSide == 500)
        #expect(failure { try imgproxy("msr:100", configuration) } == .forbidden("msr"))
        #expect(failure { try imgproxy("pr:small/msr:100", configuration) } == .forbidden("msr"))
    }

    @Test func presets() throws {
        var configuration = ImgproxyURL.Configuration()
        configuration.presets = try ImgproxyPresets(
            [
                "default=q:70/g:sm", "", "# no preset", " small = rs:fit:100:100 / bl:1", "twice=pr:small:small/dpr:2",
                "over=q:1", "over=q:2",
            ].map { $0.replacingOccurrences(of: " / ", with: "/") })
        let byDefault = job {
            $0.output.quality = 70
            $0.gravity = .smart
        }
        #expect(try imgproxy("", configuration) == byDefault)
        #expect(try imgproxy("q:0/g:ce", configuration) == job())
        let twice = try imgproxy("pr:twice/w:50", configuration)
        #expect(twice.resize.width == .pixels(50) && twice.resize.height == .pixels(100) && twice.resize.dpr == 2)
        #expect(twice.effects == [.blur(sigma: 1)])
        #expect(try imgproxy("preset:small:over", configuration).output.quality == 2)
        let unknown = ImageURLError.invalid(option: "preset", argument: "none", reason: "there is no such preset")
        #expect(failure { try imgproxy("pr:none", configuration) } == unknown)

        configuration.onlyPresets = true
        let only = try imgproxy(path: "/small:over/plain/http://example.com/a.jpg@png", configuration)
        #expect(only.output.quality == 2 && only.output.format == .png && only.resize.width == .pixels(100))
        #expect(failure { try imgproxy(path: "/w:1/plain/a.jpg", configuration) } != nil)
        #expect(try imgproxy(path: "//plain/http://example.com/a.jpg", configuration) == byDefault)
    }

    @Test func presetsThatCannotWork() {
        let bomb =
            ["p0=" + Array(repeating: "w:1", count: 100).joined(separator: "/")]
            + (1...40).map { "p\($0)=pr:p\($0 - 1):p\($0 - 1)" }
        let deep = (1...5000).map { "p\($0)=pr:p\($0 + 1)" } + ["p5001=w:1"]
        for lines in [
            ["a=pr:a"], ["a=pr:b", "b=pr:c", "c=pr:a"], ["a=pr:b"], ["a"], ["=w:1"], ["a="], ["a=w"], ["a=w:1/b"],
            ["a=w:x"],
            ["a=page:1"], ["a=g:fp:2:2"], bomb, deep,
        ] {
            #expect(throws: ConfigurationError.self, "\(lines.first ?? "")") { try ImgproxyPresets(lines) }
        }
    }

    @Test func boundsOfWholeURLs() throws {
        #expect(try imgproxy(Array(repeating: "w:1", count: 64).joined(separator: "/")).resize.width == .pixels(1))
        #expect(failure { try imgproxy(Array(repeating: "w:1", count: 65).joined(separator: "/")) } == .tooManyOptions)
        #expect(failure { try imgproxy("skp" + String(repeating: ":gif", count: 65)) } == .tooManyOptions)
        let start = "/_/plain/http://example.com/"
        let keys = try URLKeys.imgproxy([], policy: .unsignedWithoutKeys)
        let full = start + String(repeating: "a", count: 8192 - start.utf8.count)
        #expect(try ImgproxyURL(keys: keys).job(at: full).source.utf8.count == 8192 - 9)
        #expect(failure { try ImgproxyURL(keys: keys).job(at: full + "a") } == .tooLong)
        #expect(ImageURLError.tooLong.status == 414)

        var configuration = ImgproxyURL.Configuration()
        configuration.presets = try ImgproxyPresets(["p=" + Array(repeating: "w:1", count: 60).joined(separator: "/")])
        #expect(failure { try imgproxy("pr" + String(repeating: ":p", count: 9), configuration) } == .tooManyOptions)

        for options in ["w:100000/dpr:2", "w:2000/z:60", "h:7000/dpr:15", "mw:60000/dpr:2", "pd:60000/dpr:2"] {
            guard case .invalid? = failure(of: { try imgproxy(options) }) else {
                Issue.record("\(options) is larger than a side may be")
                continue
            }
        }
    }

    @Test func serversDefaults() throws {
        var configuration = ImgproxyURL.Configuration()
        configuration.defaults.autoRotate = false
        configuration.defaults.output.quality = 60
        let plain = try imgproxy("", configuration)
        #expect(plain.autoRotate == false && plain.output.quality == 60 && plain.source == picture)
        #expect(try imgproxy("ar:1/q:0", configuration) == job())
    }
}
