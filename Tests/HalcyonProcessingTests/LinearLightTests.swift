import Foundation
import HalcyonImage
import HalcyonProcessing
import HalcyonSystem
import TestSupport
import Testing

/// Scaling in linear light.
@Suite struct LinearLightTests {
    private func resized(
        _ source: Image, _ size: PixelSize, _ filter: ResizeFilter = .lanczos, _ light: ResizeLight = .linear
    ) throws -> Image {
        try source.processed(by: .resize(to: size, mode: .stretch, upscale: true, filter: filter, light: light))
    }

    /// Expects each channel to be within 1 of the exact result, which is not rounded.
    private func expectExact(
        _ source: Image, _ size: PixelSize, _ filter: ResizeFilter = .lanczos,
        at place: SourceLocation = #_sourceLocation
    ) throws {
        let result = try resized(source, size, filter)
        try #require(result.size == size, sourceLocation: place)
        var plain = PlainResample(source, to: size, filter: filter)
        plain.light = .linear
        let worst = zip(result.bytes, plain.values().joined()).reduce(0.0) { max($0, abs(Double($1.0) - $1.1)) }
        #expect(worst <= 1, "\(size) \(filter)", sourceLocation: place)
        #expect(isPremultiplied(result), sourceLocation: place)
    }

    private static let sizes = [
        PixelSize(9, 5), PixelSize(23, 3), PixelSize(1, 1), PixelSize(31, 40), PixelSize(22, 17), PixelSize(5, 60),
        PixelSize(15, 11),
    ]

    @Test(arguments: ResizeFilter.allCases, sizes)
    func noiseIsAveragedAsLight(filter: ResizeFilter, size: PixelSize) throws {
        try expectExact(try noise(23, 17), size, filter)
        try expectExact(try noise(23, 17, hasAlpha: false), size, filter)
    }

    @Test(arguments: [
        // One column, one row, one pixel, more rows than are kept, and a column that is not the whole of a vector.
        (PixelSize(1, 40), PixelSize(3, 7)), (PixelSize(40, 1), PixelSize(7, 3)), (PixelSize(1, 1), PixelSize(5, 4)),
        (PixelSize(3, 700), PixelSize(2, 5)), (PixelSize(700, 3), PixelSize(5, 2)),
        (PixelSize(67, 35), PixelSize(33, 34)),
        (PixelSize(130, 33), PixelSize(129, 32)), (PixelSize(66, 50), PixelSize(65, 16)),
    ])
    func extremeShapesAreExact(source: PixelSize, size: PixelSize) throws {
        for filter in [ResizeFilter.area, .bilinear, .lanczos] {
            try expectExact(try noise(source.width, source.height), size, filter)
            try expectExact(try noise(source.width, source.height, hasAlpha: false), size, filter)
        }
    }

    /// Returns a picture of black and white.
    private func lines(_ width: Int, _ height: Int, isWhite: (Int, Int) -> Bool) throws -> Image {
        let pixels = (0..<width * height).flatMap { index -> Pixel in
            let level: UInt8 = isWhite(index % width, index / width) ? 255 : 0
            return [level, level, level, 255]
        }
        return try image(width, height, pixels)
    }

    @Test func aCheckerboardKeepsItsLight() throws {
        let board = try lines(64, 48) { ($0 + $1) % 2 == 0 }
        for filter in [ResizeFilter.area, .lanczos, .bilinear] {
            let bright = try resized(board, PixelSize(16, 12), filter)
            try expect(bright, PixelSize(16, 12), within: 1) { _, _ in [188, 188, 188, 255] }
            let dark = try resized(board, PixelSize(16, 12), filter, .encoded)
            try expect(dark, PixelSize(16, 12), within: 1) { _, _ in [128, 128, 128, 255] }
        }
    }

    @Test(arguments: 2...9)
    func starsAndEdgesAreExact(period: Int) throws {
        let size = PixelSize(19, 13)
        try expectExact(try lines(90, 70) { $0 % (period * 3) == 0 && $1 % (period * 2) == 0 }, size)
        try expectExact(try lines(90, 70) { $0 / period % 2 == 0 && $1 > 20 }, size)
        try expectExact(try lines(90, 70) { x, _ in x > 40 + period }, size)
        // Upwards, Lanczos overshoots on both sides of an edge, beyond black and white.
        try expectExact(try lines(12, 9) { x, y in x > period && y > 3 }, PixelSize(41, 30))
    }

    /// Every colour that a premultiplied channel can have.
    @Test func uniformAreasStayAsTheyAre() throws {
        for alpha in UInt8.min...255 {
            for value in UInt8.min...alpha {
                let pixel = [value, alpha / 2, alpha - value, alpha]
                let source = try flat(24, 24, pixel)
                // Down and up; all of them would take a minute.
                for side in [value % 3 == 0 ? 7 : 17, value % 16 == 0 || alpha == 255 ? 31 : 23] {
                    let result = try resized(source, PixelSize(side, side)).bytes
                    let isSame = stride(from: 0, to: result.count, by: 4).allSatisfy {
                        result[$0..<$0 + 4] == pixel[...]
                    }
                    #expect(isSame, "\(pixel) at \(side)")
                }
            }
        }
    }

    /// A colour that ends at transparent pixels is the same colour up to its end.
    @Test(arguments: [ResizeFilter.area, .bilinear, .lanczos])
    func transparentEdgesHaveNoFringe(filter: ResizeFilter) throws {
        let pixels = (0..<60 * 40).flatMap { index -> Pixel in
            let (x, y) = (index % 60 - 30, index / 60 - 20)
            let alpha = UInt8(min(max(255 * (17 - Int(Double(x * x + y * y).squareRoot())), 0), 255))
            return [0, alpha, alpha, alpha]
        }
        let disc = try image(60, 40, isOpaque: false, pixels)
        for size in [PixelSize(17, 11), PixelSize(40, 27), PixelSize(130, 90)] {
            let bytes = try resized(disc, size, filter).bytes
            let clear = stride(from: 0, to: bytes.count, by: 4).filter { (1..<255).contains(bytes[$0 + 3]) }
            #expect(clear.count > 10)
            #expect(
                clear.allSatisfy { bytes[$0] == 0 && bytes[$0 + 1] == bytes[$0 + 3] && bytes[$0 + 2] == bytes[$0 + 3] })
        }
    }

    @Test func nearestIsTheSameInAnyLight() throws {
        let source = try noise(20, 30)
        for size in [PixelSize(7, 9), PixelSize(33, 50)] {
            #expect(try resized(source, size, .nearest).bytes == resized(source, size, .nearest, .encoded).bytes)
        }
    }

    @Test func cancelledWorkEnds() throws {
        let source = try noise(400, 400)
        for side in [200, 900] {
            let asked = Counter()
            let context = WorkContext(isCancelled: {
                asked.increment()
                return asked.value > 3
            })
            let processor = ResizeProcessor(PixelSize(side, side), upscale: true, light: .linear)
            #expect(throws: CancellationError.self) { try processor.process(source, context: context) }
            #expect(asked.value == 4)
        }
    }
}
