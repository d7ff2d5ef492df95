import Foundation
import Halcyon
import HalcyonTesting
import Testing

@testable import HalcyonServer

/// The pixels of answers, compared with those of the source.
@Suite struct PixelTests {
    private func expect(
        _ options: String, of file: String = "png/adam7-rgba.png", toBe expected: (Image) throws -> Image,
        tolerance: Int = 0
    ) async throws {
        let source = try Image(data: ServerFixture.fixture(file))
        let wanted = try expected(source)
        try await ServerFixture.run { server async throws in
            let address = try server.serve(file, as: "a")
            let answer = try await server.get("/_/\(options)/plain/\(address)@png")
            #expect(answer.status == 200, "\(String(decoding: answer.body.prefix(200), as: UTF8.self))")
            let image = try answer.image()
            #expect(image.size == wanted.size)
            let (found, pixels) = (try image.pixels(layout: .rgba), try wanted.pixels(layout: .rgba))
            let worst = zip(found, pixels).map { abs(Int($0) - Int($1)) }.max() ?? 0
            #expect(worst <= tolerance, "\(options)")
        }
    }

    @Test func parts() async throws {
        try await expect("c:20:10:noea") {
            try $0.processed(by: [.crop(PixelRect(x: 28, y: 0, width: 20, height: 10))])
        }
        try await expect("c:20:10:nowe:3:4") {
            try $0.processed(by: [.crop(PixelRect(x: 3, y: 4, width: 20, height: 10))])
        }
    }

    @Test func turns() async throws {
        try await expect("rot:90") { try $0.processed(by: [.rotate(degrees: 90)]) }
        try await expect("fl:1") { try $0.processed(by: [.flip(.horizontal)]) }
        try await expect("c:20:10:noea/rot:270") {
            // The crop is stated in the turned picture.
            let turned = try $0.processed(by: [.rotate(degrees: 270)])
            return try turned.processed(by: [.crop(PixelRect(x: turned.width - 20, y: 0, width: 20, height: 10))])
        }
    }

    @Test(arguments: 1...8)
    func theOrientationOfAFileIsAppliedOrNot(orientation: Int) async throws {
        let file = "jpeg/orientation-\(orientation).jpg"
        try await expect("ar:1", of: file) { $0 }
        // Without it the pixels are where the file has them, as in a file without an orientation.
        let stored = try Image(data: ServerFixture.fixture("jpeg/orientation-\(orientation).jpg"))
        try await expect("ar:0", of: file) { _ in
            stored.replacing(try stored.bitmap.oriented(stored.info.orientation.inverse))
        }
    }

    @Test func theSmartPart() async throws {
        let size = PixelSize(16, 16)
        // A decode to a size may differ by a step from a decode and a scaling.
        try await expect(
            "rs:fill:16:16/g:sm",
            toBe: { try $0.processed(by: [.resize(to: PixelSize(24, 16), mode: .stretch), .smartCrop(to: size)]) },
            tolerance: 2)
        try await expect("c:16:16:sm") { try $0.processed(by: [.smartCrop(to: size)]) }
        try await expect("c:16:16:sm/rs:force:8:8") {
            try $0.processed(by: [.smartCrop(to: size), .resize(to: PixelSize(8, 8), mode: .stretch)])
        }
        try await expect("c:20:10/g:sm/rot:90") {
            try $0.processed(by: [.smartCrop(to: PixelSize(10, 20)), .rotate(degrees: 90)])
        }
        // Nothing is cut.
        try await expect("g:sm/c:500:500:sm") { $0 }
    }

    @Test func thePlainWordAndThumborsPart() async throws {
        let file = "png/adam7-rgba.png"
        let wanted = try Image(data: ServerFixture.fixture(file)).processed(by: [.smartCrop(ratio: PixelSize(1, 1))])
        let side = wanted.height
        try await ServerFixture.run {
            $0.url.grammars = [.plain, .thumbor]
        } _: { server async throws in
            let address = try server.serve(file, as: "a")
            for path in [
                "/fill-\(side)x\(side),smart,png/\(address)",
                "/unsafe/\(side)x\(side)/smart/filters:format(png)/\(address)",
            ] {
                let image = try await server.get(path).image()
                #expect(try image.pixels(layout: .rgba) == wanted.pixels(layout: .rgba), "\(path)")
            }
        }
    }

    @Test func paddingAndBackground() async throws {
        let color = Color(red: 1, green: 0, blue: 0)
        try await expect("pd:2:3:4:5/bg:ff0000") {
            try $0.processed(by: [
                .pad(top: 2, left: 5, bottom: 4, right: 3, background: color), .blend(.over, background: color),
            ])
        }
    }

    @Test func aBorderIsTrimmed() async throws {
        let inner = try Image(data: ServerFixture.fixture("jpeg/baseline-420.jpg"))
        let framed = try inner.processed(by: [.pad(top: 3, left: 4, bottom: 5, right: 6, background: .white)])
        let bytes = try framed.data(as: .png)
        try await ServerFixture.run { server async throws in
            try server.answer("http://images.test/a.png", with: .data(bytes))
            for _ in 0..<2 {
                let answer = try await server.get("/_/t:0:ffffff/plain/http://images.test/a.png")
                #expect(answer.status == 200)
                let image = try answer.image()
                #expect(image.size == inner.size)
                #expect(try image.pixels(layout: .rgb) == inner.pixels(layout: .rgb))
            }
        }
    }

    @Test func watermarksAtTheirPlaces() async throws {
        let mark = ServerFixture.root.appending(path: "Tests/Fixtures/jpeg/baseline-420.jpg")
        let source = try Image(data: ServerFixture.fixture("jpeg/orientation-1.jpg"))
        let small = try Image(data: Data(contentsOf: mark)).processed(by: [
            .resize(to: PixelSize(24, 16), mode: .stretch, upscale: true)
        ])
        try await ServerFixture.run {
            $0.answer.watermark = mark.path(percentEncoded: false)
        } _: { server async throws in
            let address = try server.serve("jpeg/orientation-1.jpg")
            let answer = try await server.get("/_/wm:1:soea:0:0:0.5/plain/\(address)@png")
            #expect(answer.status == 200, "\(String(decoding: answer.body.prefix(200), as: UTF8.self))")
            let image = try answer.image()
            let part = PixelRect(x: image.width - 24, y: image.height - 16, width: 24, height: 16)
            let laid = try image.processed(by: [.crop(part)]).pixels(layout: .rgb)
            #expect(laid == (try small.pixels(layout: .rgb)))
            let corner = try #require(image.color(x: 0, y: 0))
            #expect(corner == source.color(x: 0, y: 0))
            // The second answer is the same, from memory.
            #expect(try await server.get("/_/wm:1:soea:0:0:0.5/plain/\(address)@png").body == answer.body)
        }
        try await ServerFixture.run { server async throws in
            let address = try server.serve("jpeg/baseline-420.jpg")
            #expect(try await server.get("/_/wm:1/plain/\(address)").status == 422)
        }
    }

    @Test func tiledWatermarksAndSharpLuminance() async throws {
        let mark = try Image(width: 4, height: 4, pixels: [UInt8](repeating: 255, count: 64)).data(as: .png)
        let path = FileManager.default.temporaryDirectory.appending(path: "halcyon-mark-\(UUID().uuidString).png")
        try mark.write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        let source = try Image(data: ServerFixture.fixture("jpeg/baseline-420.jpg"))
        try await ServerFixture.run {
            $0.url.grammars = [.imgproxy, .thumbor]
            $0.answer.watermark = path.path(percentEncoded: false)
        } _: { server async throws in
            let address = try server.serve("jpeg/baseline-420.jpg")
            let tiled = try await server.get("/_/wm:1:re:6:6/plain/\(address)@png").image()
            // One tile of 10 x 10 is in the middle, the mark with 3 pixels around it: marks begin at 2, 12, ... and -6, 4, 14, ...
            for (x, y) in [(2, 4), (5, 7), (12, 4), (22, 14), (45, 27)] {
                #expect(tiled.color(x: x, y: y) == .white, "\(x), \(y)")
            }
            for (x, y) in [(0, 0), (1, 4), (6, 4), (2, 3), (2, 8), (10, 14), (46, 27)] {
                #expect(tiled.color(x: x, y: y) == source.color(x: x, y: y), "\(x), \(y)")
            }
            let sharp = try await server.get("/unsafe/filters:sharpen(2,1,true):format(png)/\(address)").image()
            #expect(sharp.size == source.size)
            var (changed, differences) = (0, 0)
            for y in 0..<source.height {
                for x in 0..<source.width {
                    let (old, new) = (try #require(source.color(x: x, y: y)), try #require(sharp.color(x: x, y: y)))
                    if old != new { changed += 1 }
                    let inside = [new.red, new.green, new.blue].allSatisfy { $0 > 0 && $0 < 1 }
                    // Where nothing is clipped, all channels are raised by the same.
                    if inside, abs((new.red - old.red) - (new.blue - old.blue)) > 1.01 / 255 { differences += 1 }
                }
            }
            #expect(changed > 100)
            #expect(differences == 0)
        }
    }

    @Test func animationsStayAnimations() async throws {
        try await ServerFixture.run { server async throws in
            let address = try server.serve("png/apng.png", as: "a.png")
            let frames = try Image(data: ServerFixture.fixture("png/apng.png")).animation?.frameCount
            let answer = try await server.get("/fit-24x24,webp/\(address)")
            let image = try answer.image()
            #expect(image.size == PixelSize(24, 16))
            #expect(image.animation?.frameCount == frames)
            let still = try await server.get("/fit-24x24,jpeg/\(address)")
            #expect(try still.image().animation == nil)
        }
    }
}
