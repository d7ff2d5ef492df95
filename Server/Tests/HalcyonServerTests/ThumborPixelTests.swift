import Halcyon
import ImageURLs
import Testing

@testable import HalcyonServer

/// The pixels of thumbor's filters, and of trims.
@Suite struct ThumborPixelTests {
    private static func image(_ width: Int, _ height: Int, _ pixel: (Int, Int) -> [UInt8]) throws
        -> Image
    {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width { pixels += pixel(x, y) }
        }
        return try Image(width: width, height: height, pixels: pixels, layout: .rgba)
    }

    private static func pixel(_ image: Image, _ x: Int, _ y: Int) throws -> [UInt8] {
        let start = (y * image.width + x) * 4
        return Array(try image.pixels(layout: .rgba)[start..<start + 4])
    }

    /// (10 + 20 + 30 + 40) / 4 and so on, rounded down as thumbor does.
    @Test func fillWithTheMean() throws {
        let source = try Self.image(2, 2) { x, y in [UInt8(10 + 10 * (x + 2 * y)), 100, UInt8(x), 255] }
        let fill = FilledCanvas(fill: .mean, size: PixelSize(5, 3), isBehind: false)
        let filled = try source.processed(by: [fill])
        #expect(filled.size == PixelSize(5, 3))
        // (5 - 2) / 2 is 1, (3 - 2) / 2 is 0.
        #expect(try Self.pixel(filled, 1, 0) == [10, 100, 0, 255])
        #expect(try Self.pixel(filled, 2, 1) == [40, 100, 1, 255])
        for (x, y) in [(0, 0), (3, 0), (4, 2), (1, 2)] {
            #expect(try Self.pixel(filled, x, y) == [25, 100, 0, 255])
        }
    }

    /// Cuts at the edges of the canvas: (2 - 5) / 2 is -2, rounded down.
    @Test func fillCutsWhatIsLonger() throws {
        let source = try Self.image(5, 1) { x, _ in [UInt8(x), 0, 0, 255] }
        let fill = FilledCanvas(
            fill: .color(.init(red: 9, green: 9, blue: 9)), size: PixelSize(2, 3), isBehind: false)
        let filled = try source.processed(by: [fill])
        #expect(filled.size == PixelSize(2, 3))
        #expect(try Self.pixel(filled, 0, 1) == [2, 0, 0, 255])
        #expect(try Self.pixel(filled, 1, 1) == [3, 0, 0, 255])
        #expect(try Self.pixel(filled, 0, 0) == [9, 9, 9, 255])
    }

    /// Transparent pixels of the picture replace the canvas, unless it is asked to be behind them.
    @Test func fillBehindTransparency() throws {
        let source = try Self.image(1, 1) { _, _ in [0, 0, 0, 0] }
        for isBehind in [false, true] {
            let color = ImageJob.Color(red: 255, green: 0, blue: 0)
            let filled = try source.processed(by: [
                FilledCanvas(fill: .color(color), size: PixelSize(3, 1), isBehind: isBehind)
            ])
            #expect(try Self.pixel(filled, 0, 0) == [255, 0, 0, 255])
            #expect(try Self.pixel(filled, 1, 0)[3] == (isBehind ? 255 : 0))
        }
    }

    /// The blur of one colour is that colour, stretched to the canvas.
    @Test func fillWithABlur() throws {
        let source = try Self.image(4, 4) { _, _ in [200, 100, 50, 255] }
        let filled = try source.processed(by: [
            FilledCanvas(fill: .blurred, size: PixelSize(9, 6), isBehind: false)
        ])
        #expect(filled.size == PixelSize(9, 6))
        for (x, y) in [(0, 0), (8, 5), (4, 3)] {
            let found = try Self.pixel(filled, x, y)
            #expect(zip(found, [200, 100, 50, 255]).allSatisfy { abs(Int($0) - $1) <= 1 }, "\(found)")
        }
    }

    /// Pixels that are clearly inside and outside of the ellipse with radii of 20 and 10.
    @Test func ellipticCorners() throws {
        let source = try Self.image(60, 30) { _, _ in [255, 255, 255, 255] }
        let cut = try source.processed(by: [EllipticCorners(x: 20, y: 10, color: nil)])
        let red = try source.processed(by: [
            EllipticCorners(x: 20, y: 10, color: ImageJob.Color(red: 255, green: 0, blue: 0))
        ])
        for y in 0..<30 {
            for x in 0..<60 {
                // Distances from the middle of the nearest corner's ellipse, in radii.
                let across = max(0, 20 - Double(min(x, 59 - x)) - 0.5) / 20
                let down = max(0, 10 - Double(min(y, 29 - y)) - 0.5) / 10
                let distance = (across * across + down * down).squareRoot()
                if distance < 0.9 {
                    #expect(try Self.pixel(cut, x, y) == [255, 255, 255, 255], "\(x), \(y)")
                } else if distance > 1.1 {
                    #expect(try Self.pixel(cut, x, y)[3] == 0, "\(x), \(y)")
                    #expect(try Self.pixel(red, x, y) == [255, 0, 0, 255], "\(x), \(y)")
                }
            }
        }
    }

    /// The largest radius is half of the side, each for itself.
    @Test func cornersAreLimited() throws {
        let source = try Self.image(8, 6) { _, _ in [255, 255, 255, 255] }
        let large = try source.processed(by: [EllipticCorners(x: 1000, y: 1000, color: nil)])
        let half = try source.processed(by: [EllipticCorners(x: 4, y: 3, color: nil)])
        #expect(try large.pixels(layout: .rgba) == half.pixels(layout: .rgba))
        let none = try source.processed(by: [EllipticCorners(x: 0, y: 3, color: nil)])
        #expect(try none.pixels(layout: .rgba) == source.pixels(layout: .rgba))
    }

    /// A speck of one pixel is no picture behind a 3 x 3 median, and corners of a rectangle have four of nine pixels.
    @Test func aTrimBehindAMedian() throws {
        let bitmap = try Self.image(12, 12) { x, y in
            (4..<9).contains(x) && (4..<9).contains(y) || (x, y) == (1, 1)
                ? [0, 0, 0, 255] : [255, 255, 255, 255]
        }.bitmap
        let median = ImageJob.Trim(tolerance: .channel(10))
        #expect(BorderTrim.part(of: bitmap, median) == PixelRect(x: 4, y: 4, width: 5, height: 5))
        let exact = ImageJob.Trim(tolerance: .distance(10))
        #expect(BorderTrim.part(of: bitmap, exact) == PixelRect(x: 1, y: 1, width: 8, height: 8))
    }
}
