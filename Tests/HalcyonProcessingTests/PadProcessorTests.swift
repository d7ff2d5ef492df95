import HalcyonImage
import HalcyonProcessing
import Testing

@Suite struct PadProcessorTests {
    private static let grounds = [
        Color.clear, .black, Color(red: 0.2, green: 0.6, blue: 1), Color(red: 1, green: 0.4, blue: 0, alpha: 0.4),
    ]

    private func expectPadded(
        _ result: Image, _ source: Image, x: Int, y: Int, _ size: PixelSize, _ ground: Color,
        at place: SourceLocation = #_sourceLocation
    ) throws {
        let plain = PlainImage(source)
        let reference = PlainImage(size) { column, row in
            let isInside = (x..<x + source.width).contains(column) && (y..<y + source.height).contains(row)
            return PlainImage.over(isInside ? plain[column - x, row - y] : [0, 0, 0, 0], ground.plain)
        }
        // Exact but where the ground shows through what is transparent.
        let isExact = source.bitmap.isOpaque || ground == .clear
        try expect(result, reference, within: isExact ? 0 : 1, at: place)
        expectSound(result, "\(ground)", at: place)
        #expect(result.bitmap.isOpaque == (ground.alpha == 1 || (source.bitmap.isOpaque && size == source.size)))
        #expect(result.info == source.info)
    }

    @Test(arguments: grounds, [false, true])
    func insetsAreOnTheirSides(ground: Color, hasAlpha: Bool) throws {
        let source = try noise(13, 9, hasAlpha: hasAlpha)
        for (top, left, bottom, right) in [(1, 2, 3, 4), (0, 5, 0, 0), (7, 0, 0, 0), (0, 0, 0, 0), (0, 0, 20, 30)] {
            let insets = PadProcessor.Amount.insets(top: top, left: left, bottom: bottom, right: right)
            let result = try source.processed(by: PadProcessor(insets, background: ground))
            let size = PixelSize(13 + left + right, 9 + top + bottom)
            try expectPadded(result, source, x: left, y: top, size, ground)
        }
    }

    @Test(arguments: grounds, [false, true])
    func aSizeHasAnAnchor(ground: Color, hasAlpha: Bool) throws {
        let source = try noise(13, 9, hasAlpha: hasAlpha)
        for (anchorX, anchorY, x, y) in [
            (0.5, 0.5, 4, 6), (0, 0, 0, 0), (1, 1, 7, 12), (0, 1, 0, 12), (0.25, 0.75, 2, 9), (-3, 8, 0, 12),
            (-.infinity, .infinity, 0, 12),
        ] {
            let result = try source.processed(
                by: .pad(to: PixelSize(20, 21), anchorX: anchorX, anchorY: anchorY, background: ground))
            try expectPadded(result, source, x: x, y: y, PixelSize(20, 21), ground)
        }
    }

    @Test(arguments: grounds, [false, true])
    func aLongerSideStays(ground: Color, hasAlpha: Bool) throws {
        let source = try noise(13, 9, hasAlpha: hasAlpha)
        for (box, size) in [
            (PixelSize(5, 15), PixelSize(13, 15)), (PixelSize(19, 4), PixelSize(19, 9)),
            (PixelSize(1, 1), PixelSize(13, 9)), (PixelSize(13, 9), PixelSize(13, 9)),
        ] {
            let result = try source.processed(by: .pad(to: box, background: ground))
            try expectPadded(
                result, source, x: (size.width - 13) / 2, y: (size.height - 9) / 2, size, ground)
        }
    }

    @Test func theShortFormIsTheSameOnAllSides() throws {
        let source = try noise(13, 9)
        try expectPadded(
            try source.processed(by: .pad(3, background: .black)), source, x: 3, y: 3, PixelSize(19, 15), .black)
    }

    @Test func nothingToAddCopiesNothing() throws {
        let (soft, opaque) = (try noise(13, 9), try noise(13, 9, hasAlpha: false))
        #expect(try soft.processed(by: .pad(0)).bitmap === soft.bitmap)
        #expect(try opaque.processed(by: .pad(0, background: .white)).bitmap === opaque.bitmap)
        #expect(try opaque.processed(by: .pad(to: PixelSize(2, 2))).bitmap === opaque.bitmap)
    }
}
