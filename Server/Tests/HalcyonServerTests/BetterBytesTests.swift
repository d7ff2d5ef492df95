import Foundation
import Halcyon
import HalcyonTesting
import NIOConcurrencyHelpers
import Testing

@testable import HalcyonServer

/// Qualities that are found by a score, and the smallest of several formats.
@Suite struct BetterBytesTests {
    /// Serves a picture of 480x640 pixels.
    private func serve(_ server: ServerFixture) throws -> String {
        let address = "http://images.test/koi-interlaced.png"
        let file = ServerFixture.root.appending(path: "demo/gallery/koi-interlaced.png")
        try server.answer(address, with: .data(try Data(contentsOf: file)))
        return address
    }

    @Test func aScoreInBothLanguages() async throws {
        try await ServerFixture.run { server async throws in
            let source = try serve(server)
            let whole = try await server.get("/fit-150x150,png/\(source)").image()
            var counts: [Int] = []
            for score in [70.0, 80, 88] {
                let answer = try await server.get("/fit-150x150,webp,ssim-\(Int(score))/\(source)")
                #expect(answer["Content-Type"] == "image/webp")
                let found = try #require(try answer.image().bitmap.similarity(to: whole.bitmap))
                #expect(abs(found - score) <= 1.5, "\(found)")
                counts.append(answer.body.count)
                let same = try await server.get("/_/rs:fit:150:150/f:webp/aq:ssim:\(Int(score))/plain/\(source)")
                #expect(same.body == answer.body && same["ETag"] == answer["ETag"])
            }
            #expect(counts == counts.sorted() && Set(counts).count == 3)
            // Without a way to lose anything there is no score to find.
            #expect(
                try await server.get("/fit-150x150,png,ssim-70/\(source)").image().bitmap.similarity(to: whole.bitmap)
                    == 100)
        }
    }

    @Test func boundsOfTheQuality() async throws {
        try await ServerFixture.run { server async throws in
            let source = try serve(server)
            func body(_ options: String) async throws -> Data {
                try await server.get("/_/rs:fit:150:150/f:jpg/\(options)/plain/\(source)").body
            }
            #expect(try await body("aq:ssim:99:10:60") == body("q:60"))
            #expect(try await body("aq:ssim:0:40:60") == body("q:40"))
            #expect(try await body("aq:ssim:99:10:60/aq:none/q:33") == body("q:33"))
        }
    }

    @Test func dataIsSavedByTheQualityAloneAndNotByTheScore() async throws {
        try await ServerFixture.run {
            $0.answer.usesClientHints = true
        } _: { server async throws in
            let source = try serve(server)
            let path = "/fit-90x90,jpeg,ssim-80/\(source)"
            #expect(try await server.get(path).body == server.get(path, ["Save-Data": "on"]).body)
        }
    }

    @Test func theSmallestOfTheFormatsThatTheClientTakes() async throws {
        try await ServerFixture.run {
            $0.answer.formats = [.avif, .webp]
        } _: { server async throws in
            let source = try serve(server)
            func answer(_ words: String, _ accept: String) async throws -> HTTPAnswer {
                let answer = try await server.get("/fit-150x150,\(words)/\(source)", ["Accept": accept])
                #expect(answer.status == 200)
                return answer
            }
            for score in ["", ",ssim-80"] {
                var sizes: [String: Int] = [:]
                for word in ["avif", "webp", "jpeg", "png"] {
                    let single = try await answer(word + score, "*/*")
                    sizes["image/\(word)"] = single.body.count
                }
                for (accept, types) in [
                    ("image/avif,image/webp,*/*", ["image/avif", "image/webp", "image/jpeg", "image/png"]),
                    ("image/webp", ["image/webp", "image/jpeg", "image/png"]), ("*/*", ["image/jpeg", "image/png"]),
                ] {
                    let best = try await answer("best" + score, accept)
                    let type = try #require(best["Content-Type"])
                    #expect(best["Vary"] == "Accept")
                    #expect(types.contains(type))
                    #expect(best.body.count == types.compactMap { sizes[$0] }.min(), "\(type) of \(sizes)")
                    let name = try #require(best["Content-Disposition"])
                    #expect(name.contains(type == "image/jpeg" ? ".jpg" : "." + type.dropFirst(6)), "\(name)")
                }
            }
            let best = try await server.get("/_/rs:fit:150:150/plain/\(source)@best", ["Accept": "image/webp"])
            #expect(try await best.body == answer("best", "image/webp").body)
        }
    }

    @Test func whatIsSmallestStaysInMemoryWithItsType() async throws {
        try await ServerFixture.run { server async throws in
            let source = try serve(server)
            let path = "/fit-60x60,best/\(source)"
            let first = try await server.get(path, ["Accept": "image/webp"])
            let second = try await server.get(path, ["Accept": "image/webp"])
            #expect(first.body == second.body && first["Content-Type"] == second["Content-Type"])
            #expect(second["Content-Disposition"] == first["Content-Disposition"])
        }
    }

    @Test func reductionsAreSharpenedWhereTheSettingSaysSo() async throws {
        let paths = ["/fit-60x60,png/", "/crop-60x60,png/", "/fit-900x900,enlarge,png/", "/fit-60x60,sharpen-1,png/"]
        func bodies(_ sharpening: Int) async throws -> [Data] {
            let bodies = NIOLockedValueBox<[Data]>([])
            try await ServerFixture.run {
                $0.answer.sharpening = sharpening
            } _: { server async throws in
                let source = try serve(server)
                for path in paths {
                    let body = try await server.get(path + source).body
                    bodies.withLockedValue { $0.append(body) }
                }
            }
            return bodies.withLockedValue { $0 }
        }
        let (plain, half, full) = (try await bodies(0), try await bodies(50), try await bodies(100))
        // A cut, an enlargement, and a URL that sharpens by itself are as before.
        #expect(plain.dropFirst() == half.dropFirst())
        func contrast(_ data: Data) throws -> Int {
            let bitmap = try Image(data: data).bitmap
            return bitmap.withPixels { bytes in
                (4..<bytes.count).reduce(0) { $0 + abs(Int(bytes[$1]) - Int(bytes[$1 - 4])) }
            }
        }
        #expect(try contrast(plain[0]) < contrast(half[0]))
        #expect(try contrast(half[0]) < contrast(full[0]))
    }

    @Test func transparencyAndMotionAreKept() async throws {
        try await ServerFixture.run { server async throws in
            for (file, types) in [
                ("png/rgba8.png", ["image/png", "image/webp"]), ("gif/animated.gif", ["image/gif", "image/webp"]),
            ] {
                let source = try server.serve(file, as: file.replacing("/", with: "-"))
                let answer = try await server.get("/fit-20x20,best,ssim-80/\(source)", ["Accept": "image/webp"])
                #expect(types.contains(answer["Content-Type"] ?? ""))
                let image = try answer.image()
                #expect(image.info.hasAlpha || image.info.isAnimated)
            }
        }
    }
}
