import Foundation
import HalcyonImage
import HalcyonProcessing
import Testing

@Suite struct RotateProcessorTests {
    private static let angles = [1.0, 17, 45, 89.5, 123.4, -60, 200, 300.25, 359.9, 3645]
    private static let grounds = [
        Color.clear, .white, Color(red: 0.2, green: 0.9, blue: 0.4), Color(red: 1, green: 0.3, blue: 0.1, alpha: 0.5),
    ]

    private static let quarterTurns: [(degrees: Double, quarters: Int)] = [
        (0, 0), (90, 1), (180, 2), (270, 3), (360, 0), (-90, 3), (-180, 2), (-360, 0), (450, 1), (720_000_090, 1),
        (-720_000_090, 3), (-0.0, 0),
    ]

    private static let sizes: [(source: PixelSize, degrees: Double, result: PixelSize)] = [
        (PixelSize(40, 30), 45.0, PixelSize(50, 50)), (PixelSize(40, 30), 30, PixelSize(50, 46)),
        (PixelSize(40, 30), -30, PixelSize(50, 46)), (PixelSize(40, 30), 60, PixelSize(46, 50)),
        (PixelSize(3, 4), 36.86989764584402, PixelSize(5, 5)), (PixelSize(1, 1), 45, PixelSize(2, 2)),
        (PixelSize(100, 1), 1, PixelSize(101, 3)), (PixelSize(40, 30), 90.000_000_000_1, PixelSize(30, 40)),
    ]

    @Test(arguments: angles, [true, false])
    func rotationIsInterpolatedBilinearly(degrees: Double, fitsSize: Bool) throws {
        for hasAlpha in [false, true] {
            let source = try noise(31, 20, hasAlpha: hasAlpha)
            let result = try source.processed(by: .rotate(degrees: degrees, fitsSize: fitsSize))
            if !fitsSize { #expect(result.size == source.size) }
            try expect(result, PlainImage(source).turned(degrees: degrees, to: result.size), within: 2)
            expectSound(result, "\(degrees)")
            #expect(result.info == source.info)
        }
    }

    @Test(arguments: grounds, [30.0, 90, 180, -45])
    func backgroundCoversWholeRotatedImage(ground: Color, degrees: Double) throws {
        for hasAlpha in [false, true] {
            for fitsSize in [false, true] {
                let source = try noise(24, 17, hasAlpha: hasAlpha)
                let result = try source.processed(
                    by: .rotate(degrees: degrees, fitsSize: fitsSize, background: ground))
                let plain = PlainImage(source).turned(degrees: degrees, to: result.size)
                try expect(result, plain.over(ground), within: 2)
                expectSound(result, "\(ground)")
            }
        }
    }

    @Test func anOpaqueGroundMakesAnOpaqueImage() throws {
        let opaque = try noise(24, 17, hasAlpha: false)
        #expect(try opaque.processed(by: .rotate(degrees: 33, background: .black)).bitmap.isOpaque)
        #expect(try opaque.processed(by: .rotate(degrees: 90)).bitmap.isOpaque)
        #expect(try !opaque.processed(by: .rotate(degrees: 33)).bitmap.isOpaque)
    }

    @Test(arguments: quarterTurns)
    func quarterTurnsOnlyExchangePlaces(degrees: Double, quarters: Int) throws {
        for hasAlpha in [false, true] {
            let source = try noise(23, 17, hasAlpha: hasAlpha)
            let size = quarters % 2 == 0 ? source.size : source.size.transposed
            // A ground that nothing shows of makes no difference.
            for ground in hasAlpha ? [Color.clear] : [.clear, .white, Color(white: 1, alpha: 0)] {
                let result = try source.processed(by: .rotate(degrees: degrees, background: ground))
                try expect(result, size) { x, y in
                    switch quarters {
                    case 1: source[y, 16 - x]
                    case 2: source[22 - x, 16 - y]
                    case 3: source[22 - y, x]
                    default: source[x, y]
                    }
                }
            }
        }
    }

    @Test(arguments: [90.0, 270, -90])
    func quarterTurnsAtAKeptSizeCutAndLeaveBars(degrees: Double) throws {
        let source = try noise(24, 16, hasAlpha: false)
        let result = try source.processed(by: .rotate(degrees: degrees, fitsSize: false))
        try expect(result, source.size) { x, y in
            guard (4..<20).contains(x) else { return [0, 0, 0, 0] }
            return degrees == 90 ? source[4 + y, 19 - x] : source[19 - y, x - 4]
        }
    }

    @Test(arguments: sizes)
    func theResultHoldsAllOfTheImage(source: PixelSize, degrees: Double, size: PixelSize) throws {
        #expect(try noise(source.width, source.height).processed(by: .rotate(degrees: degrees)).size == size)
    }

    @Test(arguments: angles)
    func edgesHaveNoFringe(degrees: Double) throws {
        let color = Color(red: 0.8, green: 0.4, blue: 0.1)
        let source = try picture(30, 21) { _, _ in color }
        let result = try source.processed(by: .rotate(degrees: degrees))
        #expect(fringe(result, color) <= 1)
        // On a ground of its own colour nothing is to be seen.
        let hidden = try source.processed(by: .rotate(degrees: degrees, background: color))
        try expect(hidden, PlainImage(hidden.size) { _, _ in color.plain }, within: 1)
    }

    @Test(arguments: [PixelSize(1, 1), PixelSize(1, 40), PixelSize(40, 1), PixelSize(2, 2), PixelSize(300, 2)])
    func theThinnestImagesTurn(size: PixelSize) throws {
        let source = try noise(size.width, size.height)
        for degrees in [30.0, 45, 90, 135, 180, -77] {
            let result = try source.processed(by: .rotate(degrees: degrees))
            try expect(result, PlainImage(source).turned(degrees: degrees, to: result.size), within: 2)
            #expect(result.bytes.contains { $0 > 0 })
        }
    }

    @Test func tilesMeetWithoutASeam() throws {
        // More than one tile of the kernel each way.
        let source = try Picture.smooth.image(150, 90)
        let result = try source.processed(by: .rotate(degrees: 20, background: .white))
        try expect(result, PlainImage(source).turned(degrees: 20, to: result.size).over(.white), within: 2)
    }
}
