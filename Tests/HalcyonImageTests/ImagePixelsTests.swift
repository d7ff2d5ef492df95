import HalcyonImage
import Testing

@Suite struct ImagePixelsTests {
    private static let layouts: [(PixelLayout, [UInt8], [UInt8])] = [
        (.bgraPremultiplied, [10, 20, 30, 255, 10, 20, 30, 40], [10, 20, 30, 255, 10, 20, 30, 40]),
        (.bgraPremultiplied, [200, 20, 30, 40, 1, 1, 1, 0], [40, 20, 30, 40, 0, 0, 0, 0]),
        (.rgba, [10, 20, 30, 255, 255, 100, 0, 51], [30, 20, 10, 255, 0, 20, 51, 51]),
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
