import Foundation
import Halcyon
import ImageURLs
import Testing

@testable import HalcyonServer

/// Filters that have thumbor's formulas, by values that follow from these.
@Suite struct ThumborFilterTests {
    private static func image(_ width: Int, _ height: Int, _ pixel: (Int, Int) -> [UInt8]) throws -> Image {
        let pixels = (0..<height).flatMap { y in (0..<width).flatMap { x in pixel(x, y) } }
        return try Image(width: width, height: height, pixels: pixels, layout: .rgba)
    }

    private static func pixel(_ image: Image, _ x: Int, _ y: Int) throws -> [UInt8] {
        let start = (y * image.width + x) * 4
        return Array(try image.pixels(layout: .rgba)[start..<start + 4])
    }

    // MARK: - Sharpen

    /// A cosine that is even around both edges.
    private static func wave(_ x: Int, of count: Int, halves: Int) -> Double {
        cos(Double.pi * Double(halves * x) / Double(count - 1))
    }

    /// The factor of such a wave: the kernel 1, 2, 1 with taps d apart makes (1 + cos(d * w)) / 2 of it.
    private static func gain(_ sharpening: WaveletSharpening, of count: Int, halves: Int) -> Double {
        let frequency = Double.pi * Double(halves) / Double(count - 1)
        var (smooth, sum) = (1.0, 0.0)
        for level in 0..<5 {
            let rest = smooth * (1 + cos(frequency * Double(1 << level))) / 2
            let factor = 1 + sharpening.amount * exp(-pow(Double(level) - sharpening.radius, 2) / 1.5)
            (sum, smooth) = (sum + factor * (smooth - rest), rest)
        }
        return sum + smooth
    }

    @Test(arguments: [true, false], [(2.0, 1.0), (5, 0), (1, 3.5), (0, 2)])
    func sharpeningOfWaves(luminanceOnly: Bool, parameters: (Double, Double)) throws {
        let sharpening = WaveletSharpening(
            amount: parameters.0, radius: parameters.1, luminanceOnly: luminanceOnly)
        for (width, height, halves) in [(101, 3, 8), (2, 90, 20), (64, 1, 1), (7, 5, 3)] {
            let isWide = width > height
            let count = max(width, height)
            let source = try Self.image(width, height) { x, y in
                let value = UInt8((128 + 15 * Self.wave(isWide ? x : y, of: count, halves: halves)).rounded())
                return [value, value, value, 255]
            }
            let gain = Self.gain(sharpening, of: count, halves: halves)
            let sharpened = try source.processed(by: [sharpening])
            for place in 0..<count {
                let found = try Self.pixel(sharpened, isWide ? place : width - 1, isWide ? height - 1 : place)
                let expected = 128 + 15 * gain * Self.wave(place, of: count, halves: halves)
                // The source has values rounded to half a step, which become stronger as well.
                let most = 1 + 0.5 * (1 + parameters.0)
                #expect(
                    abs(Double(found[0]) - expected) <= most,
                    "\(width)x\(height) at \(place): \(found), not \(expected)")
            }
        }
    }

    /// Bands of rows are as the whole.
    @Test func sharpeningInBands() throws {
        let source = try Self.image(3, 400) { x, y in
            [UInt8((y * 37 + x * 11) % 256), UInt8(y * y % 251), UInt8(y / 2), 255]
        }
        for luminanceOnly in [true, false] {
            let whole = WaveletSharpening(amount: 1.5, radius: 2, luminanceOnly: luminanceOnly)
            var banded = whole
            banded.bandArea = 1
            let (first, second) = (try source.processed(by: [whole]), try source.processed(by: [banded]))
            #expect(try first.pixels(layout: .rgba) == second.pixels(layout: .rgba))
            #expect(try first.pixels(layout: .rgba) != source.pixels(layout: .rgba))
        }
    }

    /// Each channel is raised by as much, and colours behind alpha are as without it.
    @Test func sharpeningOfColorsAndAlpha() throws {
        func edge(_ alpha: UInt8) throws -> Image {
            try Self.image(40, 2) { x, _ in x < 20 ? [90, 120, 150, alpha] : [110, 140, 170, alpha] }
        }
        let luminance = WaveletSharpening(amount: 1, radius: 0, luminanceOnly: true)
        let sharpened = try edge(255).processed(by: [luminance])
        for x in 0..<40 {
            let found = try Self.pixel(sharpened, x, 0).map(Int.init)
            #expect(found[1] - found[0] == 30 && found[2] - found[1] == 30, "\(x): \(found)")
        }
        #expect(try Self.pixel(sharpened, 19, 0)[0] < 90 && Self.pixel(sharpened, 20, 0)[0] > 110)
        for sharpening in [luminance, WaveletSharpening(amount: 1, radius: 0, luminanceOnly: false)] {
            let (opaque, half) = (
                try edge(255).processed(by: [sharpening]), try edge(128).processed(by: [sharpening])
            )
            for x in 0..<40 {
                let (first, second) = (try Self.pixel(opaque, x, 1), try Self.pixel(half, x, 1))
                #expect(second[3] == 128)
                #expect((0..<3).allSatisfy { abs(Int(first[$0]) - Int(second[$0])) <= 3 }, "\(first), \(second)")
            }
        }
    }

    // MARK: - Colours

    /// sqrt(0.299 * 200² + 0.587 * 100² + 0.114 * 50²) is 134.59.
    @Test func saturation() throws {
        let source = try Self.image(1, 1) { _, _ in [200, 100, 50, 255] }
        for (factor, expected) in [
            (0.0, [135, 135, 135]), (1, [200, 100, 50]), (2, [255, 65, 0]), (0.5, [167, 117, 92]),
            (-0.5, [102, 152, 177]),
        ] as [(Double, [UInt8])] {
            let found = try source.processed(by: [PerceivedSaturation(factor: factor)])
            #expect(try Self.pixel(found, 0, 0) == expected + [255], "\(factor)")
        }
        // Half of all that with half of the alpha.
        let half = try Self.image(1, 1) { _, _ in [200, 100, 50, 128] }
        let found = try Self.pixel(try half.processed(by: [PerceivedSaturation(factor: 2)]), 0, 0)
        #expect(found[3] == 128 && found[0] == 255 && abs(Int(found[1]) - 65) <= 2 && found[2] == 0, "\(found)")
    }

    @Test func filtersOfTheServer() async throws {
        let colors: [[UInt8]] = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [200, 100, 50, 255]]
        let picture = try Self.image(4, 1) { x, _ in colors[x] }.data(as: .png)
        // White, opaque at the left, and with less than half of the alpha beside.
        let mark = try Self.image(2, 1) { x, _ in [255, 255, 255, x == 0 ? 255 : 100] }.data(as: .png)
        try await ServerFixture.run {
            $0.url.grammars = [.thumbor]
        } _: { server async throws in
            try server.answer("http://images.test/a.png", with: .data(picture))
            try server.answer("http://images.test/mark.png", with: .data(mark))
            func row(_ filters: String) async throws -> [[UInt8]] {
                let path = "/unsafe/filters:\(filters):format(png)/http://images.test/a.png"
                let image = try await server.get(path).image()
                #expect(image.size == PixelSize(4, 1))
                return try (0..<4).map { try Self.pixel(image, $0, 0) }
            }
            // ITU-R BT.601: 0.299, 0.587 and 0.114 of 255.
            #expect(try await row("grayscale()").map { $0[0] } == [76, 150, 29, 124])
            #expect(try await row("saturation(0)").map { $0[0] } == [139, 195, 86, 135])
            // thumbor takes half of a full alpha from each pixel of the watermark.
            let marked = try await row("watermark(http://images.test/mark.png,0,0,50)")
            #expect(abs(Int(marked[0][1]) - 128) <= 1, "\(marked)")
            #expect(Array(marked[1...]) == Array(colors[1...]))
            #expect(try await row("watermark(http://images.test/mark.png,0,0,100)") == colors)
        }
    }

    @Test func backgroundsAndProportions() async throws {
        // Red on the left half, nothing beside it, and half of a blue below.
        let picture = try Self.image(64, 48) { x, y in
            y >= 24 ? [0, 0, 255, 128] : x < 32 ? [255, 0, 0, 255] : [0, 0, 0, 0]
        }.data(as: .png)
        try await ServerFixture.run {
            $0.url.grammars = [.thumbor]
        } _: { server async throws in
            try server.answer("http://images.test/a.png", with: .data(picture))
            func image(_ filters: String, size: String = "") async throws -> Image {
                try await server.get("/unsafe/\(size)filters:\(filters):format(png)/http://images.test/a.png").image()
            }
            let colored = try await image("background_color(0f0)")
            #expect(colored.size == PixelSize(64, 48) && colored.bitmap.isOpaque)
            #expect(try Self.pixel(colored, 5, 5) == [255, 0, 0, 255])
            #expect(try Self.pixel(colored, 60, 5) == [0, 255, 0, 255])
            let mixed = try Self.pixel(colored, 5, 40)
            #expect(mixed[0] == 0 && abs(Int(mixed[1]) - 127) <= 1 && abs(Int(mixed[2]) - 128) <= 1, "\(mixed)")
            // The fraction of a pixel is cut, and a side of less than a pixel leaves the picture as it is.
            #expect(try await image("proportion(0.33)").size == PixelSize(21, 15))
            #expect(try await image("proportion(0.02)").size == PixelSize(64, 48))
            #expect(try await image("proportion(0.5):proportion(0.5)", size: "32x24/").size == PixelSize(8, 6))
            // The order of filters is the order of the work.
            let both = try await image("proportion(0.5):background_color(white):rotate(90)")
            #expect(both.size == PixelSize(24, 32))
            #expect(try Self.pixel(both, 2, 2) == [255, 255, 255, 255])
        }
    }

    // MARK: - Corners and borders

    /// The colour of the corners is as opaque as the picture is there.
    @Test func cornersKeepAlpha() throws {
        let source = try Self.image(40, 40) { x, _ in [0, 0, 0, x < 20 ? 0 : 128] }
        let cut = try source.processed(by: [EllipticCorners(x: 10, y: 10, color: .init(red: 255, green: 0, blue: 0))])
        #expect(try Self.pixel(cut, 0, 0)[3] == 0)
        #expect(try Self.pixel(cut, 39, 39) == [255, 0, 0, 128])
        #expect(try Self.pixel(cut, 30, 20) == [0, 0, 0, 128])
    }

    /// Magenta on nothing is no border, and alpha has its part in a distance.
    @Test func trimsOfTransparentPictures() throws {
        func part(_ tolerance: Double, _ inside: [UInt8], _ outside: [UInt8]) throws -> PixelRect? {
            let image = try Self.image(12, 10) { x, y in
                (3..<9).contains(x) && (2..<7).contains(y) ? inside : outside
            }
            return BorderTrim.part(of: image.bitmap, ImageJob.Trim(tolerance: .distance(tolerance)))
        }
        let found = PixelRect(x: 3, y: 2, width: 6, height: 5)
        #expect(try part(0, [255, 0, 255, 255], [0, 0, 0, 0]) == found)
        #expect(try part(400, [255, 0, 255, 255], [7, 8, 9, 0]) == found)
        #expect(try part(0, [50, 60, 70, 200], [50, 60, 70, 190]) == found)
        #expect(try part(20, [50, 60, 70, 200], [50, 60, 70, 190]) == nil)
        // The colours count in full: 173 with an alpha that differs by 20.
        #expect(try part(100, [100, 100, 100, 20], [0, 0, 0, 0]) == found)
        #expect(try part(180, [100, 100, 100, 20], [0, 0, 0, 0]) == nil)
    }
}
