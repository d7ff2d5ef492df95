import HalcyonImage
import HalcyonProcessing
import Testing

@Suite struct WatermarkProcessorTests {
    /// `mark` over `source`, its top left at a place that may be outside.
    private func marked(_ source: Image, _ mark: Image, x: Int, y: Int, opacity: Double = 1) -> PlainImage {
        let (plain, above) = (PlainImage(source), PlainImage(mark))
        return PlainImage(source.size) { column, row in
            let isInside = (x..<x + mark.width).contains(column) && (y..<y + mark.height).contains(row)
            guard isInside else { return plain[column, row] }
            return PlainImage.over(above[column - x, row - y].map { $0 * opacity }, plain[column, row])
        }
    }

    @Test(arguments: [
        (1.0, 1.0, 0, 22, 15), (0, 0, 0, 0, 0), (0.5, 0.5, 0, 11, 8), (1, 0, 3, 19, 3), (0, 1, 3, 3, 12),
        (0.5, 0.5, 3, 11, 8), (0.25, 0.75, 2, 7, 10), (-4, 9, 1, 1, 14), (-.infinity, .infinity, 0, 0, 15),
    ])
    func watermarkIsPlacedByAnchorAndMargin(anchorX: Double, anchorY: Double, margin: Int, x: Int, y: Int) throws {
        for hasAlpha in [false, true] {
            let (source, mark) = (try noise(30, 20, hasAlpha: hasAlpha), try noise(8, 5))
            let result = try source.processed(
                by: .watermark(mark, anchorX: anchorX, anchorY: anchorY, margin: margin))
            try expect(result, marked(source, mark, x: x, y: y), within: 1)
            expectSound(result, "\(margin)")
            #expect(result.bitmap.isOpaque == !hasAlpha)
            #expect(result.info == source.info)
        }
    }

    @Test(arguments: [
        (1.0, 1.0, 0, -20, -11), (0, 0, 0, 0, 0), (0.5, 0.5, 0, -10, -6), (0, 0, 4, 4, 4), (1, 1, 4, -24, -15),
    ])
    func watermarkIsClippedToImage(anchorX: Double, anchorY: Double, margin: Int, x: Int, y: Int) throws {
        let (source, mark) = (try noise(20, 12), try noise(40, 23))
        let result = try source.processed(by: .watermark(mark, anchorX: anchorX, anchorY: anchorY, margin: margin))
        try expect(result, marked(source, mark, x: x, y: y), within: 1)
        #expect(result.size == source.size)
    }

    @Test func marginBeyondImageHidesWatermark() throws {
        let (source, mark) = (try noise(20, 12), try noise(4, 4))
        for anchor in [0.0, 1] {
            let processor = WatermarkProcessor(mark, anchorX: anchor, anchorY: anchor, margin: 400)
            #expect(try source.processed(by: processor).bytes == source.bytes)
        }
    }

    @Test(arguments: [0.001, 0.3, 0.5, 0.99])
    func opacityFadesWatermark(opacity: Double) throws {
        for hasAlpha in [false, true] {
            let (source, mark) = (try noise(30, 20), try noise(8, 5, hasAlpha: hasAlpha))
            let result = try source.processed(by: .watermark(mark, opacity: opacity))
            try expect(result, marked(source, mark, x: 22, y: 15, opacity: opacity), within: 1)
            expectSound(result, "\(opacity)")
        }
        let source = try noise(30, 20)
        #expect(try source.processed(by: .watermark(source, opacity: 0)).bitmap === source.bitmap)
    }

    @Test(arguments: [(0.2, 6), (0.5, 15), (1, 30), (0.01, 1), (0.517, 16), (1e-300, 1)])
    func watermarkWidthIsFractionOfImageWidth(fraction: Double, width: Int) throws {
        let (source, mark) = (try noise(30, 20), try noise(8, 6))
        let scaled = try mark.processed(
            by: .resize(to: PixelSize(width, ResizeProcessor.maximumSide), upscale: true))
        #expect(scaled.width == width)
        let result = try source.processed(by: .watermark(mark, anchorX: 0, anchorY: 0, widthFraction: fraction))
        try expect(result, marked(source, scaled, x: 0, y: 0), within: 1)
    }

    @Test func watermarkEqualityComparesPixels() throws {
        let (mark, twin) = (try noise(8, 5), try noise(8, 5))
        #expect(mark.bitmap !== twin.bitmap)
        #expect(WatermarkProcessor(mark) == WatermarkProcessor(twin))
        #expect(WatermarkProcessor(mark).hashValue == WatermarkProcessor(twin).hashValue)
        var bytes = mark.bytes
        bytes[77] ^= 1
        #expect(WatermarkProcessor(mark) != WatermarkProcessor(try image(8, 5, isOpaque: false, bytes)))
        // The same bytes at another size.
        #expect(WatermarkProcessor(mark) != WatermarkProcessor(try image(5, 8, isOpaque: false, mark.bytes)))
    }
}
