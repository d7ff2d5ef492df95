import HalcyonImage
import Testing

@Suite struct ImageColorsTests {
    /// An image of colours in hexadecimal digits, a row each line.
    private static func image(_ rows: String...) throws -> Image {
        let pixels = rows.map { $0.split(separator: " ").compactMap { Color(hex: String($0)) } }
        return try image(pixels[0].count, pixels.count) { x, y in pixels[y][x] }
    }

    private static func image(_ width: Int, _ height: Int, _ color: (Int, Int) -> Color) throws -> Image {
        var bytes: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let color = color(x, y)
                bytes += [color.red, color.green, color.blue, color.alpha].map { UInt8(($0 * 255).rounded()) }
            }
        }
        return try Image(width: width, height: height, pixels: bytes, layout: .rgba)
    }

    private static func rect(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> PixelRect {
        PixelRect(x: x, y: y, width: width, height: height)
    }

    @Test func aPixelHasItsColor() throws {
        let image = try Self.image("#f00 #00ff00", "#0000ff #fff", "#ffffff80 #00000000")
        let expected = ["#ff0000", "#00ff00", "#0000ff", "#ffffff", "#ffffff80", "#00000000"]
        for (index, color) in expected.enumerated() {
            #expect(image.color(x: index % 2, y: index / 2)?.description == color)
        }
        for (x, y) in [(-1, 0), (0, -1), (2, 0), (0, 3), (.max, .max), (.min, .min), (0, .max)] {
            #expect(image.color(x: x, y: y) == nil)
        }
    }

    @Test func aPartHasItsColorsRowByRow() throws {
        let image = try Self.image("#000000 #010101 #020202", "#030303 #040404 #050505", "#060606 #070707 #08080880")
        func colors(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> [String] {
            image.colors(in: Self.rect(x, y, width, height)).map(\.description)
        }
        #expect(colors(1, 0, 2, 2) == ["#010101", "#020202", "#040404", "#050505"])
        #expect(colors(0, 2, 9, 9) == ["#060606", "#070707", "#08080880"])
        #expect(colors(-5, -5, 6, 6) == ["#000000"])
        #expect(colors(-1, -1, .max, .max).count == 9)
        for (x, y, width, height) in [(3, 0, 1, 1), (0, 0, 0, 3), (0, 0, -1, 3), (.max, .max, .max, .max)] {
            #expect(colors(x, y, width, height).isEmpty)
        }
    }

    @Test func theAverageIsOfTheBytes() throws {
        let image = try Self.image("#000000 #ff0000", "#00ff00 #0000ff", "#ffffff #ffffff")
        #expect(image.averageColor() == Color(white: 0.5))
        #expect(image.averageColor(in: Self.rect(0, 0, 2, 2)) == Color(white: 0.25))
        #expect(image.averageColor(in: Self.rect(1, 0, 5, 1)) == Color(red: 1, green: 0, blue: 0))
        #expect(image.averageColor(in: Self.rect(0, 2, 2, 1)) == .white)
        #expect(image.averageColor(in: Self.rect(-9, -9, 10, 10)) == .black)
        for rect in [Self.rect(2, 0, 1, 1), Self.rect(0, 0, 0, 0), Self.rect(0, 0, -1, 1), Self.rect(.max, 0, .max, 1)]
        {
            #expect(image.averageColor(in: rect) == nil)
            #expect(image.dominantColor(in: rect) == nil)
        }
    }

    @Test func aTransparentPixelDoesNotDarkenTheAverage() throws {
        let image = try Self.image("#ff0000 #00000000 #00000000 #00000000")
        #expect(image.averageColor() == Color(red: 1, green: 0, blue: 0, alpha: 0.25))
        #expect(image.averageColor(in: Self.rect(1, 0, 2, 1)) == .clear)
        // Three parts of blue and one of red.
        let mixed = try Self.image("#ff000033 #0000ff99")
        let average = try #require(mixed.averageColor())
        #expect(average.description == "#4000bf66")
    }

    @Test func theSumsAreExact() throws {
        let image = try Image(
            width: 5000, height: 3, pixels: [UInt8](repeating: 255, count: 15_000 * 4), layout: .bgraPremultiplied)
        #expect(image.averageColor() == .white)
        let grey = try Image(width: 5000, height: 3, pixels: [UInt8](repeating: 77, count: 15_000), layout: .gray)
        #expect(grey.averageColor() == Color(white: 77.0 / 255))
    }

    @Test func theDominantColorIsTheMostFrequent() throws {
        let image = try Self.image(
            "#ff0000 #00ff00 #00ff00 #0000ff", "#0000ff #00ff00 #ff0000 #0000ff", "#0000ff #fff #000 #777")
        #expect(image.dominantColor()?.description == "#0000ff")
        #expect(image.dominantColors(count: 3).map(\.description) == ["#0000ff", "#00ff00", "#ff0000"])
        #expect(image.dominantColors().count == 5)
        #expect(image.dominantColors(count: 100).count == 6)
        #expect(image.dominantColors(count: 2, in: Self.rect(0, 0, 3, 1)).map(\.description) == ["#00ff00", "#ff0000"])
        for count in [0, -1, Int.min] { #expect(image.dominantColors(count: count).isEmpty) }
        #expect(image.dominantColors(count: .max).count == 6)
    }

    /// A colour that lies across the edges of eight bins has more pixels than one in a bin of its own.
    @Test func shadesOfAColorAreOne() throws {
        let image = try Self.image(20, 10) { x, y in
            x < 12
                ? Color(
                    red: Double(120 + (x * 5 + y) % 16) / 255, green: Double(120 + x) / 255, blue: Double(120 + y) / 255
                )
                : Color(red: 1, green: 0, blue: 0)
        }
        let colors = image.dominantColors()
        #expect(colors.count == 2)
        #expect(colors.first == image.averageColor(in: Self.rect(0, 0, 12, 10)))
        #expect(colors.last == Color(red: 1, green: 0, blue: 0))
    }

    @Test func alphaIsTheWeight() throws {
        // Two of a tenth against one of a half.
        let image = try Self.image("#ff00001a #ff00001a #0000ff80 #00000000")
        #expect(image.dominantColors().map(\.description) == ["#0000ff80", "#ff00001a"])
        #expect(try Self.image("#00000000 #00000000").dominantColor() == nil)
        #expect(try Self.image("#00000000 #00000000").dominantColors().isEmpty)
        #expect(try Self.image("#ffffff01 #00000000").dominantColor() == Color(white: 1, alpha: 1.0 / 255))
    }

    @Test func equallyFrequentColorsAreSortedByRed() throws {
        let image = try Self.image("#ffffff #00ff00", "#ff0000 #0000ff", "#000000 #ffff00")
        let expected = ["#000000", "#0000ff", "#00ff00", "#ff0000", "#ffff00"]
        #expect(image.dominantColors().map(\.description) == expected)
        let turned = try Self.image("#ffff00 #0000ff #ff0000", "#00ff00 #000000 #ffffff")
        #expect(turned.dominantColors() == image.dominantColors())
    }

    @Test(arguments: [(1000, 700), (1 << 20, 1), (1, 200_000), (70_000, 3)])
    func aLargeImageIsSampledEvenly(width: Int, height: Int) throws {
        // A third of green at each end, blue between.
        let long = max(width, height)
        let bytes = (0..<width * height).flatMap { index -> [UInt8] in
            let place = width >= height ? index % width : index / width
            return place * 10 < long * 3 || place * 10 >= long * 7 ? [0, 255, 0] : [0, 0, 255]
        }
        let image = try Image(width: width, height: height, pixels: bytes, layout: .rgb)
        let expected = [Color(red: 0, green: 1, blue: 0), Color(red: 0, green: 0, blue: 1)]
        #expect(image.dominantColors() == expected)
        #expect(image.dominantColor(in: Self.rect(width / 2, height / 2, 1, 1)) == expected[1])
    }

    @Test func noiseHasDominantColors() throws {
        var state: UInt64 = 5
        let bytes = (0..<300 * 300 * 4).map { _ -> UInt8 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(state >> 56)
        }
        let image = try Image(width: 300, height: 300, pixels: bytes, layout: .rgba)
        let colors = image.dominantColors(count: .max)
        #expect((20...4096).contains(colors.count))
        #expect(colors == image.dominantColors(count: .max))
        #expect(image.dominantColors(count: 3) == Array(colors.prefix(3)))
    }
}
