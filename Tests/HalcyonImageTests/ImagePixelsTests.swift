import HalcyonImage
import Testing

@Suite struct ImagePixelsTests {
    private static let layouts: [(PixelLayout, [UInt8], [UInt8])] = [
        (.bgraPremultiplied, [10, 20, 30, 255, 10, 20, 30, 40], [10, 20, 30, 255, 10, 20, 30, 40]),
        (.bgraPremultiplied, [200, 20, 30, 40, 1, 1, 1, 0], [40, 20, 30, 40, 0, 0, 0, 0]),
        (.rgba, [10, 20, 30, 255, 255, 100, 0, 51], [30, 20, 10, 255, 0, 20, 51, 51]),
        (.rgbaPremultiplied, [10, 20, 30, 255, 200, 20, 30, 40], [30, 20, 10, 255, 30, 20, 40, 40]),
        (.bgra, [10, 20, 30, 255, 255, 100, 0, 51], [10, 20, 30, 255, 51, 20, 0, 51]),
        (.rgb, [10, 20, 30, 1, 2, 3], [30, 20, 10, 255, 3, 2, 1, 255]),
        (.gray, [7, 9], [7, 7, 7, 255, 9, 9, 9, 255]),
    ]

    @Test(arguments: layouts) func everyLayoutIsConverted(layout: PixelLayout, pixels: [UInt8], expected: [UInt8])
        throws
    {
        let image = try Image(width: 2, height: 1, pixels: pixels, layout: layout)
        #expect(image.withPixels { [UInt8]($0) } == expected)
        #expect(image.bitmap.isOpaque == (expected[3] == 255 && expected[7] == 255))
        #expect(image.info.hasAlpha == !image.bitmap.isOpaque)
        #expect(image.info.format == .bitmap)
        // Bytes that do not lie in one piece.
        let scattered = try Image(width: 2, height: 1, pixels: AnyCollection(pixels), layout: layout)
        #expect(scattered.withPixels { [UInt8]($0) } == expected)
    }

    @Test(
        arguments: [
            (PixelLayout.bgraPremultiplied, [30, 20, 10, 255, 51, 20, 0, 51, 0, 0, 0, 0]),
            (.rgbaPremultiplied, [10, 20, 30, 255, 0, 20, 51, 51, 0, 0, 0, 0]),
            (.bgra, [30, 20, 10, 255, 255, 100, 0, 51, 0, 0, 0, 0]),
            (.rgba, [10, 20, 30, 255, 0, 100, 255, 51, 0, 0, 0, 0]),
            // Over white: what is missing of the alpha is added, and clear pixels are white.
            (.rgb, [10, 20, 30, 204, 224, 255, 255, 255, 255]),
            // 0.2126 * 10 + 0.7152 * 20 + 0.0722 * 30 = 18.6, and 0.2126 * 204 + 0.7152 * 224 + 0.0722 * 255 = 222.
            (.gray, [19, 222, 255]),
        ] as [(PixelLayout, [UInt8])])
    func eachLayoutIsWritten(layout: PixelLayout, expected: [UInt8]) throws {
        // Three rows of a pixel: opaque, a fifth, clear.
        let source: [UInt8] = [30, 20, 10, 255, 51, 20, 0, 51, 0, 0, 0, 0]
        let image = try Image(width: 1, height: 3, pixels: source)
        let pixels = try image.pixels(layout: layout)
        #expect([UInt8](pixels) == expected)
        #expect(pixels.count == 3 * layout.bytesPerPixel)
    }

    @Test(arguments: PixelLayout.allCases) func anImageOfItsOwnPixelsIsTheSame(layout: PixelLayout) throws {
        var source: [UInt8] = []
        for alpha in UInt8.min...UInt8.max {
            let hasAlpha = layout.bytesPerPixel == 4
            let isGray = layout == .gray
            for color in [0, alpha / 3, alpha] {
                source += [color, isGray ? color : alpha, isGray ? color : 0, hasAlpha ? alpha : 255]
            }
        }
        let image = try Image(width: 3, height: 256, pixels: source)
        let copy = try Image(width: 3, height: 256, pixels: try image.pixels(layout: layout), layout: layout)
        #expect(copy.withPixels { [UInt8]($0) } == image.withPixels { [UInt8]($0) })
    }

    @Test func greysStayAsTheyAre() throws {
        let greys = [UInt8](0...255)
        let image = try Image(width: 256, height: 1, pixels: greys, layout: .gray)
        #expect([UInt8](try image.pixels(layout: .gray)) == greys)
    }

    @Test(arguments: [(1, 1, 3), (1, 1, 5), (0, 1, 0), (-1, -1, 4), (Int.max, 2, 8), (Int.max / 4, 1, 4)])
    func wrongCountsAreErrors(width: Int, height: Int, count: Int) {
        #expect(throws: BitmapError.invalidSize(PixelSize(width, height))) {
            try Image(width: width, height: height, pixels: [UInt8](repeating: 0, count: count))
        }
    }

    @Test func theScaleGoesAlong() throws {
        var image = try Image(width: 1, height: 1, pixels: [0, 0, 0, 0])
        #expect(image.scale == 1)
        image.scale = 2
        #expect(image.replacing(image.bitmap).scale == 2)
    }
}
