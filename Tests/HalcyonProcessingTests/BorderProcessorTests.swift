import HalcyonImage
import HalcyonProcessing
import Testing

@Suite struct BorderProcessorTests {
    private static let lines = [
        ImageBorder(), ImageBorder(width: 1, color: .white),
        ImageBorder(width: 0.4, color: Color(red: 1, green: 0, blue: 0.5)),
        ImageBorder(width: 5.75, color: Color(red: 0.1, green: 0.9, blue: 0.2, alpha: 0.5)),
        ImageBorder(width: 99, color: .black),
    ]

    @Test(arguments: lines, [(0.0, 15), (4, 15), (9.5, 15), (100, 15), (9, 1), (9, 10), (9, 0)])
    func borderIsDrawnInsideTheEdge(border: ImageBorder, shape: (radius: Double, mask: Int)) throws {
        for hasAlpha in [false, true] {
            let source = try noise(27, 19, hasAlpha: hasAlpha)
            let corners = RectCorner(rawValue: shape.mask)
            let processor = BorderProcessor(border, radius: .pixels(shape.radius), corners: corners)
            let result = try source.processed(by: processor)
            let plain = PlainFrame(
                source: source, radius: min(shape.radius, 9.5), corners: corners, border: border, clips: false)
            try expect(result, plain.image(), within: 2)
            expectSound(result, "\(processor)")
            #expect(result.bitmap.isOpaque == !hasAlpha)
            #expect(result.info == source.info)
        }
    }

    @Test(arguments: [PixelSize(1, 1), PixelSize(1, 12), PixelSize(12, 1), PixelSize(2, 2), PixelSize(3, 30)])
    func theSmallestImagesHaveABorder(size: PixelSize) throws {
        let source = try noise(size.width, size.height)
        let radius = Double(min(size.width, size.height)) / 2
        for border in Self.lines {
            let result = try source.processed(by: BorderProcessor(border, radius: .widthFraction(3)))
            try expect(
                result, PlainFrame(source: source, radius: radius, border: border, clips: false).image(), within: 2)
        }
    }

    @Test func theShortFormIsTheSame() throws {
        let source = try noise(20, 16)
        let short = try source.processed(by: .border(width: 2, color: .white, radius: .heightFraction(0.25)))
        let long = BorderProcessor(ImageBorder(width: 2, color: .white), radius: .pixels(4))
        #expect(short.bytes == (try source.processed(by: long)).bytes)
    }

    @Test func invisibleBorderReturnsSameBitmap() throws {
        let source = try noise(20, 16)
        #expect(try source.processed(by: .border(width: 0)).bitmap === source.bitmap)
        #expect(try source.processed(by: .border(width: 3, color: .clear)).bitmap === source.bitmap)
    }
}
