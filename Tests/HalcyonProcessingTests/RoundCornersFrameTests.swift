import HalcyonImage
import HalcyonProcessing
import Testing

/// The ground, the border and the sizes of round corners; `RoundCornersProcessorTests` has the corners themselves.
@Suite struct RoundCornersFrameTests {
    static let grounds = [
        Color.clear, .white, Color(red: 0.1, green: 0.5, blue: 0.9), Color(red: 1, green: 0.4, blue: 0, alpha: 0.6),
    ]
    static let borders: [ImageBorder?] = [
        nil, ImageBorder(width: 3, color: .black),
        ImageBorder(width: 2.25, color: Color(red: 1, green: 0.8, blue: 0, alpha: 0.5)),
        ImageBorder(width: 0.5, color: .white), ImageBorder(width: 30, color: Color(white: 0.3)),
    ]

    private func expectFramed(
        _ source: Image, _ processor: RoundCornersProcessor, radius: Double, at place: SourceLocation = #_sourceLocation
    ) throws {
        let result = try source.processed(by: processor)
        let plain = PlainFrame(
            source: source, radius: radius, corners: processor.corners, border: processor.border,
            ground: processor.background)
        try expect(result, plain.image(), within: 2, at: place)
        expectSound(result, "\(processor)", at: place)
        #expect(result.info == source.info)
    }

    @Test(arguments: grounds, borders)
    func aGroundAndABorderAreDrawn(ground: Color, border: ImageBorder?) throws {
        for hasAlpha in [false, true] {
            let source = try noise(24, 19, hasAlpha: hasAlpha)
            for radius in [0, 6.5, 9.5] {
                let processor = RoundCornersProcessor(.pixels(radius), background: ground, border: border)
                try expectFramed(source, processor, radius: radius)
            }
        }
    }

    @Test(arguments: 0..<16)
    func aBorderFollowsTheCornersThatAreCut(mask: Int) throws {
        let source = try noise(22, 19)
        let processor = RoundCornersProcessor(
            .pixels(8), corners: RectCorner(rawValue: mask), background: Color(red: 0, green: 0, blue: 1, alpha: 0.5),
            border: ImageBorder(width: 2.5, color: .white))
        try expectFramed(source, processor, radius: 8)
    }

    @Test(arguments: [
        (CornerRadius.widthFraction(0.25), 10.0), (.heightFraction(0.25), 6), (.widthFraction(0), 0),
        (.widthFraction(0.5), 12), (.heightFraction(0.5), 12), (.heightFraction(3), 12), (.pixels(0.3), 0.3),
        (.pixels(12), 12), (.pixels(13), 12), (.widthFraction(1e308), 12),
    ])
    func aRadiusIsPixelsOrAPart(radius: CornerRadius, pixels: Double) throws {
        let source = try noise(40, 24, hasAlpha: false)
        try expectFramed(source, RoundCornersProcessor(radius, background: .white), radius: pixels)
        try expectFramed(source, RoundCornersProcessor(radius), radius: pixels)
    }

    @Test(arguments: [PixelSize(20, 20), PixelSize(11, 30), PixelSize(60, 45), PixelSize(1, 1)])
    func theImageIsScaledToFillATargetFirst(target: PixelSize) throws {
        let source = try noise(40, 24, hasAlpha: false)
        let filled = try source.processed(by: .resize(to: target, mode: .fill, upscale: true))
        let (ground, border) = (Color(white: 0.7), ImageBorder(width: 1.5, color: .black))
        let result = try source.processed(
            by: .roundCorners(.heightFraction(0.25), background: ground, border: border, targetSize: target))
        let radius = min(0.25 * Double(target.height), Double(min(target.width, target.height)) / 2)
        let plain = PlainFrame(source: filled, radius: radius, border: border, ground: ground)
        try expect(result, plain.image(), within: 2)
        #expect(result.bitmap.isOpaque)
    }

    @Test func aTargetAloneOnlyScales() throws {
        let source = try noise(40, 24)
        let size = PixelSize(20, 20)
        let result = try source.processed(by: .roundCorners(.pixels(0), targetSize: size))
        #expect(result.bytes == (try source.processed(by: .resize(to: size, mode: .fill, upscale: true))).bytes)
    }

    @Test(arguments: [PixelSize(1, 1), PixelSize(1, 9), PixelSize(9, 1), PixelSize(2, 2), PixelSize(3, 40)])
    func theSmallestImagesHaveAFrame(size: PixelSize) throws {
        let source = try noise(size.width, size.height)
        let radius = Double(min(size.width, size.height)) / 2
        for border in Self.borders {
            let processor = RoundCornersProcessor(.pixels(5), background: Color(white: 0.5, alpha: 0.5), border: border)
            try expectFramed(source, processor, radius: radius)
        }
    }

    @Test func anOpaqueGroundMakesAnOpaqueImage() throws {
        for hasAlpha in [false, true] {
            let result = try noise(20, 20, hasAlpha: hasAlpha).processed(
                by: .roundCorners(.pixels(6), background: .white))
            #expect(result.bitmap.isOpaque)
            #expect(result[0, 0] == [255, 255, 255, 255])
        }
    }
}
