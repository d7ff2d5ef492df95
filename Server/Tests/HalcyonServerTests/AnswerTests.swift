import Foundation
import Halcyon
import HalcyonTesting
import Testing

@testable import HalcyonServer

/// Pictures over HTTP, with real decodes and encodes.
@Suite struct AnswerTests {
    @Test func aPictureInTheSizeThatWasAskedFor() async throws {
        try await ServerFixture.run { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            let answer = try await server.get("/fit-24x24/\(source)")
            #expect(answer.status == 200, "\(String(decoding: answer.body.prefix(300), as: UTF8.self))")
            #expect(answer["Content-Type"] == "image/jpeg")
            #expect(try answer.image().size == PixelSize(24, 16))
            #expect(answer["Content-Disposition"] == "inline; filename=\"a.jpg\"")
            #expect(answer["X-Content-Type-Options"] == "nosniff")
            #expect(answer["Cache-Control"] == "public, max-age=3600")
            #expect(answer["Vary"] == "Accept")
            #expect(answer["Content-Length"] == "\(answer.body.count)")
        }
    }

    @Test func imgproxysURLs() async throws {
        try await ServerFixture.run { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            let answer = try await server.get("/_/rs:fill:20:20/g:no/plain/\(source)@png")
            #expect(answer["Content-Type"] == "image/png")
            #expect(try answer.image().size == PixelSize(20, 20))
            #expect(answer["Vary"] == nil)
            #expect(answer["Content-Disposition"] == "inline; filename=\"a.png\"")
        }
    }

    @Test func thumborsURLs() async throws {
        try await ServerFixture.run {
            $0.url.grammars = [.thumbor]
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            let answer = try await server.get("/unsafe/fit-in/12x12/filters:format(png):grayscale()/\(source)")
            #expect(answer["Content-Type"] == "image/png")
            let image = try answer.image()
            #expect(image.size == PixelSize(12, 8))
            let color = try #require(image.color(x: 3, y: 3))
            #expect(color.red == color.green && color.green == color.blue)
        }
    }

    @Test func aBaseStandsBeforeThumborsSources() async throws {
        try await ServerFixture.run {
            ($0.url.grammars, $0.source.baseURL) = ([.thumbor], "http://images.test/")
        } _: { server async throws in
            try server.serve("jpeg/baseline-420.jpg", as: "b/a.jpg")
            #expect(try await server.get("/unsafe/12x12/b/a.jpg").status == 200)
            #expect(try await server.get("/unsafe/12x12/http%3A%2F%2Fimages.test%2Fb%2Fa.jpg").status == 200)
        }
    }

    @Test func theBestFormatThatTheClientNames() async throws {
        try await ServerFixture.run {
            $0.answer.formats = [.jpegXL, .avif, .webp]
            $0.answer.maximumAVIFPixels = 24 * 16
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            func type(_ accept: String, _ size: String = "24x24") async throws -> String? {
                let answer = try await server.get("/fit-\(size)/\(source)", ["Accept": accept])
                #expect(answer["Vary"] == "Accept")
                #expect(answer.status == 200)
                return answer["Content-Type"]
            }
            #expect(try await type("image/jxl,image/avif,image/webp,*/*") == "image/jxl")
            #expect(try await type("image/avif,image/webp,*/*;q=0.8") == "image/avif")
            #expect(try await type("image/avif,image/webp,*/*;q=0.8", "40x40") == "image/webp")
            #expect(try await type("image/avif;q=0,image/webp;q=0.1") == "image/webp")
            #expect(try await type("image/*") == "image/jpeg")
            #expect(try await type("*/*") == "image/jpeg")
        }
    }

    /// AVIF is as slow for each frame as for a picture.
    @Test func allFramesCountForTheChoiceOfAVIF() async throws {
        for (limit, type) in [(24 * 24 * 2, "image/webp"), (24 * 24 * 100, "image/avif")] {
            try await ServerFixture.run {
                ($0.answer.formats, $0.answer.maximumAVIFPixels) = ([.avif, .webp], limit)
            } _: { server async throws in
                let source = try server.serve("gif/animated.gif", as: "a.gif")
                let answer = try await server.get("/fit-24x24/\(source)", ["Accept": "image/avif,image/webp"])
                #expect(answer.status == 200)
                #expect(answer["Content-Type"] == type)
                #expect(try answer.image().info.frameCount > 2)
            }
        }
    }

    @Test func aSourceWithAlphaStaysTransparent() async throws {
        try await ServerFixture.run { server async throws in
            let source = try server.serve("png/adam7-rgba.png", as: "a.png")
            let answer = try await server.get("/fit-24x/\(source)")
            #expect(answer["Content-Type"] == "image/png")
            #expect(try !answer.image().bitmap.isOpaque)
        }
    }

    @Test func aKnownTagIs304() async throws {
        try await ServerFixture.run(clock: ManualClock()) { server async throws in
            let source = try server.serve(
                "jpeg/baseline-420.jpg", headers: ["Cache-Control": "max-age=90, must-revalidate"])
            let first = try await server.get("/fit-24x24/\(source)")
            let tag = try #require(first["ETag"])
            #expect(first["Cache-Control"] == "public, max-age=90, must-revalidate")
            let second = try await server.get("/fit-24x24/\(source)", ["If-None-Match": "\"x\", W/\(tag)"])
            #expect(second.status == 304)
            #expect(second["ETag"] == tag)
            #expect(second["Vary"] == "Accept")
            #expect(second["Cache-Control"] != nil)
            #expect(second["Content-Type"] == nil)
            #expect(try await server.get("/fit-24x24/\(source)", ["If-None-Match": "\"x\""]).status == 200)
            #expect(server.transport.requestCount == 1)
        }
    }

    @Test func headHasTheFieldsAndNoBody() async throws {
        try await ServerFixture.run { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            let whole = try await server.get("/fit-24x24/\(source)")
            let head = try await server.get("/fit-24x24/\(source)", method: "HEAD")
            #expect(head.status == 200)
            #expect(head["Content-Length"] == "\(whole.body.count)")
            #expect(head["ETag"] == whole["ETag"])
            #expect(head.body.isEmpty)
        }
    }

    @Test func otherMethodsAreRefused() async throws {
        try await ServerFixture.run { server async throws in
            let answer = try await server.get("/fit-24x24/http://images.test/a.jpg", method: "DELETE")
            #expect(answer.status == 405)
            #expect(answer["Allow"] == "GET, HEAD")
        }
    }

    @Test func theClientsNameOfTheRequestComesBack() async throws {
        try await ServerFixture.run { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            #expect(try await server.get("/_/\(source)", ["X-Request-Id": "abc-1"])["X-Request-Id"] == "abc-1")
            let other = try await server.get("/_/\(source)", ["X-Request-Id": "a b"])["X-Request-Id"]
            #expect(UUID(uuidString: other ?? "") != nil)
        }
    }

    @Test func aNameAndAnAttachment() async throws {
        try await ServerFixture.run { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            let answer = try await server.get("/_/fn:..my%22cat/att:1/plain/\(source)")
            #expect(answer["Content-Disposition"] == "attachment; filename=\"mycat.jpg\"")
        }
    }

    @Test func originalsInParts() async throws {
        try await ServerFixture.run { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            let bytes = try ServerFixture.fixture("jpeg/baseline-420.jpg")
            let path = "/original/\(source)"
            let whole = try await server.get(path)
            #expect(whole.body == bytes)
            #expect(whole["Accept-Ranges"] == "bytes")
            let part = try await server.get(path, ["Range": "bytes=10-19"])
            #expect(part.status == 206)
            #expect(part.body == bytes[10..<20])
            #expect(part["Content-Range"] == "bytes 10-19/\(bytes.count)")
            let none = try await server.get(path, ["Range": "bytes=\(bytes.count)-"])
            #expect(none.status == 416)
            #expect(none["Content-Range"] == "bytes */\(bytes.count)")
            #expect(none.body.isEmpty)
            let changed = try await server.get(path, ["Range": "bytes=10-19", "If-Range": "\"other\""])
            #expect(changed.status == 200)
            let head = try await server.get(path, ["Range": "bytes=10-19"], method: "HEAD")
            #expect(head.status == 200 && head["Content-Length"] == "\(bytes.count)")
        }
    }

    @Test func clientHints() async throws {
        try await ServerFixture.run {
            $0.answer.usesClientHints = true
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            let hints = ["Sec-CH-DPR": "2", "Sec-CH-Width": "24"]
            let answer = try await server.get("/_/\(source)", hints)
            #expect(try answer.image().size == PixelSize(24, 16))
            #expect(answer["Vary"] == "Accept, Sec-CH-DPR, Sec-CH-Width, Save-Data")
            #expect(answer["Accept-CH"] == "Sec-CH-DPR, Sec-CH-Width")
            let sized = try await server.get("/fit-10x/\(source)", hints)
            #expect(try sized.image().width == 20)
            let saving = try await server.get("/fit-10x/\(source)", ["Save-Data": "on", "Sec-CH-DPR": "2"])
            #expect(try saving.image().width == 10)
            let layout = try await server.get("/_/\(source)", hints.merging(["Save-Data": "on"]) { $1 })
            #expect(try layout.image().width == 12)
            let odd = ["Save-Data": "on", "Sec-CH-DPR": "2", "Sec-CH-Width": "-24"]
            #expect(try await server.get("/_/\(source)", odd).image().size == PixelSize(48, 32))
            let usual = try await server.get("/fit-10x/\(source)")
            // Fields that `Vary` does not name change nothing.
            let former = try await server.get("/fit-10x/\(source)", ["DPR": "2", "Width": "24"])
            #expect(former.body == usual.body)
            #expect(saving.body.count < usual.body.count)
        }
    }

    /// Two pictures whose XXH3 is the same, as their entity tags are: the sums of the hash do not see which of two words is where.
    @Test func aForgedPictureIsNobodyElsesAnswer() async throws {
        @Sendable func picture(_ first: UInt8, _ second: UInt8) -> Data {
            var bytes = [UInt8](repeating: 200, count: 54 + 64 * 64 * 3)
            bytes.replaceSubrange(
                0..<54,
                with: [
                    0x42, 0x4D, 54, 48, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 64, 0, 0, 0, 64, 0, 0, 0, 1, 0, 24,
                    0,
                ]
                    + [UInt8](repeating: 0, count: 24))
            // In lane 0 of the stripes 1 and 2: the low halves are the secret's, whose products are zero.
            bytes.replaceSubrange(64..<72, with: [0x7C, 0x01, 0x81, 0x2C, first, first, first, first])
            bytes.replaceSubrange(128..<136, with: [0xDE, 0xD4, 0x6D, 0xE9, second, second, second, second])
            return Data(bytes)
        }
        try await ServerFixture.run { server async throws in
            let urls = ["http://good.test/a.bmp", "http://evil.test/a.bmp"].compactMap { URL(string: $0) }
            for (url, bytes) in zip(urls, [picture(0, 255), picture(255, 0)]) {
                server.transport.answer(url, with: .data(bytes))
            }
            let paths = ["http://good.test/a.bmp", "http://evil.test/a.bmp"]
            let originals = [
                try await server.get("/original/\(paths[0])"), try await server.get("/original/\(paths[1])"),
            ]
            #expect(originals[0].body != originals[1].body)
            #expect(originals[0]["ETag"] == originals[1]["ETag"])
            let answers = [
                try await server.get("/_,png/\(paths[0])"), try await server.get("/_,png/\(paths[1])"),
            ]
            #expect(try answers[0].image().withPixels { Array($0) } != answers[1].image().withPixels { Array($0) })
            #expect(answers[0]["ETag"] != answers[1]["ETag"])
        }
    }

    /// imgproxy's own settings of its URLs.
    @Test func settingsOfImgproxy() async throws {
        try await ServerFixture.run {
            ($0.url.separator, $0.url.allowedOptions) = (",", ["width", "msr"])
            ($0.url.allowsLimits, $0.url.sourceIncludesFilename) = (true, true)
            ($0.signature.keys, $0.signature.salts, $0.signature.trusted) = (["00"], ["00"], ["partner"])
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            let encoded = Data(source.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
            let answer = try await server.get("/partner/w,24/\(encoded)/a-name.jpg")
            #expect(try answer.image().size == PixelSize(24, 16))
            #expect(try await server.get("/partner/msr,0.000001/plain/\(source)").status == 422)
            #expect(try await server.get("/partner/h,24/plain/\(source)").status == 403)
            #expect(try await server.get("/unsafe/w,24/plain/\(source)").status == 403)
        }
    }

    /// A canvas on the way is as large as one that is sent, and each picture that is laid on another is held.
    @Test func noStepIsAboveTheLimits() async throws {
        try await ServerFixture.run {
            $0.url.grammars = [.thumbor]
        } _: { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            let canvas = "/unsafe/fit-in/50000x50000/filters:fill(red):proportion(0.001)/\(source)"
            #expect(try await server.get(canvas).status == 422)
            #expect(
                try await server.get("/unsafe/fit-in/500x500/filters:fill(red):proportion(0.1)/\(source)").status == 200
            )
            let fetched = server.transport.requestCount
            let host = source.split(separator: "/")[1]
            let marks = (0..<5).map { "watermark(http://\(host)/\($0).png,0,0,0)" }.joined(separator: ":")
            #expect(try await server.get("/unsafe/filters:\(marks)/http://\(host)/new.jpg").status == 422)
            // Not even the source is fetched.
            #expect(server.transport.requestCount == fetched)
        }
    }

    @Test func withoutTheSettingHintsAreNothing() async throws {
        try await ServerFixture.run { server async throws in
            let source = try server.serve("jpeg/baseline-420.jpg")
            let answer = try await server.get("/_/\(source)", ["Sec-CH-Width": "24"])
            #expect(try answer.image().size == PixelSize(48, 32))
            #expect(answer["Vary"] == "Accept")
        }
    }

    @Test func informationAsJSON() async throws {
        try await ServerFixture.run { server async throws in
            let source = try server.serve("jpeg/orientation-6.jpg")
            let answer = try await server.get("/info/_/\(source)")
            #expect(answer["Content-Type"] == "application/json")
            let report = try JSONDecoder().decode(ImageReport.self, from: answer.body)
            let image = try Image(data: ServerFixture.fixture("jpeg/orientation-6.jpg"))
            #expect(report.format == "jpeg")
            #expect(PixelSize(report.width, report.height) == image.size)
            #expect(report.orientation == 6)
            #expect(report.frames == 1)
            #expect(!report.hasGainMap)
            #expect(try BlurHash(#require(report.blurHash)).componentsX == 4)
            #expect(report.dominantColor?.count == 7)
            // The second answer needs no second decode, and no second transfer.
            #expect(try await server.get("/info/_/\(source)").body == answer.body)
            #expect(server.transport.requestCount == 1)
        }
    }

    @Test func vectorsAreDrawnUnlessTheyAreAskedFor() async throws {
        let drawing = Data(
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><script>alert(1)</script>\
            <rect width="40" height="20" fill="#00ff00"/></svg>
            """.utf8)
        try await ServerFixture.run { server async throws in
            try server.answer("http://images.test/a.svg", with: .data(drawing))
            let drawn = try await server.get("/fit-80x80/http://images.test/a.svg")
            #expect(drawn["Content-Type"] == "image/png")
            #expect(drawn["Content-Security-Policy"] == nil)
            #expect(try drawn.image().size == PixelSize(80, 40))
            let asked = try await server.get("/original/http://images.test/a.svg")
            #expect(asked["Content-Type"] == "image/svg+xml")
            #expect(asked.body == drawing)
            #expect(asked["Content-Security-Policy"]?.hasPrefix("default-src 'none'") == true)
            #expect(asked["X-Content-Type-Options"] == "nosniff")
        }
    }
}
