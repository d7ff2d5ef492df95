import Foundation
import HalcyonImage
import HalcyonProcessing
import HalcyonSystem
import Testing

@Suite struct RoundCornersProcessorTests {

    /// How much of a pixel lies inside, 0 to 1: the share of a fine grid of points in it.
    private static func coverage(_ x: Int, _ y: Int, of size: PixelSize, radius: Double, _ corners: RectCorner)
        -> Double
    {
        let grid = 16
        var inside = 0
        for row in 0..<grid {
            for column in 0..<grid {
                let px = Double(x) + (Double(column) + 0.5) / Double(grid)
                let py = Double(y) + (Double(row) + 0.5) / Double(grid)
                if isInside(px, py, Double(size.width), Double(size.height), radius, corners) { inside += 1 }
            }
        }
        return Double(inside) / Double(grid * grid)
    }

    private static func isInside(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ radius: Double, _ corners: RectCorner
    ) -> Bool {
        let (isLeft, isTop) = (x < radius, y < radius)
        let (isRight, isBottom) = (x > width - radius, y > height - radius)
        let corner: RectCorner =
            switch (isLeft, isTop, isRight, isBottom) {
            case (true, true, _, _): .topLeft
            case (_, true, true, _): .topRight
            case (_, _, true, true): .bottomRight
            case (true, _, _, true): .bottomLeft
            default: []
            }
        guard !corner.isEmpty, corners.contains(corner) else { return true }
        let centreX = corner == .topLeft || corner == .bottomLeft ? radius : width - radius
        let centreY = corner == .topLeft || corner == .topRight ? radius : height - radius
        return (x - centreX) * (x - centreX) + (y - centreY) * (y - centreY) <= radius * radius
    }

    @Test(arguments: [
        (PixelSize(40, 30), 10.0), (PixelSize(40, 30), 4.5), (PixelSize(41, 31), 12.25), (PixelSize(30, 30), 15.0),
        (PixelSize(17, 50), 8.5), (PixelSize(5, 4), 1.0),
    ])
    func edgesAreAsSmoothAsTheirCoverage(size: PixelSize, radius: Double) throws {
        let colour: Pixel = [255, 128, 0, 255]
        let result = try flat(size.width, size.height, colour).processed(by: .roundCorners(radius: radius))
        try expect(result, size, within: 12) { x, y in
            let share = Self.coverage(x, y, of: size, radius: radius, .all)
            return colour.map { UInt8((Double($0) * share).rounded()) }
        }
        #expect(isPremultiplied(result))
        #expect(!result.bitmap.isOpaque)
    }

    @Test func cornersAreTransparentAndTheRestIsUntouched() throws {
        for hasAlpha in [false, true] {
            let source = try noise(40, 30, hasAlpha: hasAlpha)
            let result = try source.processed(by: .roundCorners(radius: 10))
            for (x, y) in [(0, 0), (39, 0), (0, 29), (39, 29)] { #expect(result[x, y] == [0, 0, 0, 0]) }
            for y in 0..<30 {
                for x in 0..<40 where (10..<30).contains(x) || (10..<20).contains(y) {
                    #expect(result[x, y] == source[x, y])
                }
            }
            #expect(isPremultiplied(result))
            #expect(result.info == source.info)
        }
    }

    @Test func edgesKeepTheirColour() throws {
        // A half covered pixel is half of each channel: no dark or bright rim.
        let result = try flat(60, 60, [200, 100, 50, 255]).processed(by: .roundCorners(radius: 30))
        for y in 0..<60 {
            for x in 0..<60 {
                let pixel = result[x, y].map(Double.init)
                #expect(abs(pixel[0] - pixel[3] * 200 / 255) <= 1)
                #expect(abs(pixel[1] - pixel[3] * 100 / 255) <= 1)
                #expect(abs(pixel[2] - pixel[3] * 50 / 255) <= 1)
            }
        }
    }

    @Test(arguments: 0..<16)
    func onlyTheNamedCornersAreCut(mask: Int) throws {
        let corners = RectCorner(rawValue: mask)
        let source = try noise(24, 20, hasAlpha: false)
        let result = try source.processed(by: .roundCorners(radius: 8, corners: corners))
        let places: [(RectCorner, Int, Int)] = [
            (.topLeft, 0, 0), (.topRight, 23, 0), (.bottomRight, 23, 19), (.bottomLeft, 0, 19),
        ]
        for (corner, x, y) in places {
            #expect(result[x, y] == (corners.contains(corner) ? [0, 0, 0, 0] : source[x, y]))
        }
        try expect(result, source.size, within: 12) { x, y in
            let share = Self.coverage(x, y, of: source.size, radius: 8, corners)
            return source[x, y].map { UInt8((Double($0) * share).rounded()) }
        }
    }

    @Test(arguments: [PixelSize(21, 21), PixelSize(30, 20), PixelSize(20, 30)])
    func aRadiusAboveHalfIsHalf(size: PixelSize) throws {
        let source = try noise(size.width, size.height)
        let half = try source.processed(by: .roundCorners(radius: Double(min(size.width, size.height)) / 2))
        for radius in [Double(max(size.width, size.height)), 1e6, .greatestFiniteMagnitude] {
            #expect(try source.processed(by: .roundCorners(radius: radius)).bytes == half.bytes)
        }
    }

    @Test func aSquareBecomesACircle() throws {
        let result = try flat(50, 50, [255, 255, 255, 255]).processed(by: .roundCorners(radius: 1000))
        let area = stride(from: 3, to: result.bytes.count, by: 4).reduce(0.0) { $0 + Double(result.bytes[$1]) / 255 }
        #expect(abs(area - .pi * 25 * 25) < 4)
        #expect(result[25, 0][3] > 240 && result[0, 25][3] > 240)
    }

    @Test func zeroRadiusReturnsSameBitmap() throws {
        let source = try noise(20, 10, hasAlpha: false)
        for processor in [
            RoundCornersProcessor(radius: 0), RoundCornersProcessor(radius: -0.0),
            RoundCornersProcessor(radius: 5, corners: []),
        ] {
            #expect(try source.processed(by: processor).bitmap === source.bitmap)
        }
    }

    @Test(arguments: [PixelSize(1, 1), PixelSize(1, 9), PixelSize(9, 1), PixelSize(2, 2), PixelSize(2, 40)])
    func theSmallestImagesHaveCorners(size: PixelSize) throws {
        let source = try flat(size.width, size.height, [255, 255, 255, 255])
        let result = try source.processed(by: .roundCorners(radius: 5))
        let radius = Double(min(size.width, size.height)) / 2
        try expect(result, size, within: 12) { x, y in
            let share = Self.coverage(x, y, of: size, radius: radius, .all)
            return Pixel(repeating: UInt8((255 * share).rounded()), count: 4)
        }
    }

    @Test(arguments: [-1.0, -0.001, .nan, .signalingNaN, .infinity, -.infinity, -.greatestFiniteMagnitude])
    func invalidRadiiAreRefused(radius: Double) throws {
        let source = try noise(8, 8)
        expectInvalidArgument(.roundCorners(radius: radius), source)
        expectInvalidArgument(.roundCorners(radius: radius, corners: []), source)
    }

    @Test func sidesDoNotEndWhereCairosDo() throws {
        for size in [PixelSize(32_766, 8), PixelSize(8, 32_766), PixelSize(40_000, 8), PixelSize(8, 70_000)] {
            let source = try flat(size.width, size.height)
            let result = try source.processed(by: .roundCorners(radius: 4))
            // The far corner as well.
            #expect(result[size.width - 1, size.height - 1][3] == 0)
            #expect(result[size.width / 2, size.height / 2] == source[0, 0])
        }
    }

    @Test func cancelledWorkEnds() throws {
        let cancelled = WorkContext(isCancelled: { true })
        let source = try noise(8, 8)
        #expect(throws: CancellationError.self) {
            try RoundCornersProcessor(radius: 2).process(source, context: cancelled)
        }
    }
}
