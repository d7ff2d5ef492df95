import HalcyonImage
import HalcyonSystem
import Testing

@Suite struct ResampleTests {
    /// A smooth picture with different content in each channel.
    static func gradient(_ width: Int, _ height: Int) throws -> Bitmap {
        try Bitmap(size: PixelSize(width, height), isOpaque: true) { output in
            for y in 0..<height {
                for x in 0..<width {
                    let offset = (y * width + x) * 4
                    output[offset] = UInt8(255 * x / max(1, width - 1))
                    output[offset + 1] = UInt8(255 * y / max(1, height - 1))
                    output[offset + 2] = UInt8(255 * (x + y) / max(1, width + height - 2))
                    output[offset + 3] = 255
                }
            }
        }
    }

    @Test(arguments: ResizeFilter.allCases, [PixelSize(1, 1), PixelSize(7, 200), PixelSize(64, 48), PixelSize(301, 5)])
    func aFlatColourStaysItself(filter: ResizeFilter, size: PixelSize) throws {
        let flat = try Bitmap(
            size: PixelSize(37, 53), isOpaque: false,
            pixels: (0..<37 * 53).flatMap { _ in [10, 20, 30, 40] as [UInt8] })
        let geometry = ResizeGeometry(source: flat.size, box: size, mode: .stretch, upscale: true)
        let result = try flat.resampled(geometry, filter: filter)
        #expect(result.size == size)
        result.withPixels { bytes in
            #expect(
                stride(from: 0, to: bytes.count, by: 4).allSatisfy { Array(bytes[$0..<$0 + 4]) == [10, 20, 30, 40] })
        }
    }

    @Test(arguments: [ResizeFilter.area, .bilinear, .lanczos])
    func aGradientKeepsItsValuesWhenReduced(filter: ResizeFilter) throws {
        let source = try Self.gradient(400, 300)
        let geometry = ResizeGeometry(source: source.size, box: PixelSize(100, 75), mode: .fit, upscale: false)
        let result = try source.resampled(geometry, filter: filter)
        for (x, y) in [(10, 10), (50, 37), (90, 70)] {
            let pixel = try #require(result.pixel(x: x, y: y))
            #expect(abs(Int(pixel.blue) - Int((Double(x) * 4 + 1.5) * 255 / 399)) <= 1)
            #expect(abs(Int(pixel.green) - Int((Double(y) * 4 + 1.5) * 255 / 299)) <= 1)
        }
    }

    @Test func areaAveragesExactly() throws {
        let source = try Bitmap(
            size: PixelSize(4, 2), isOpaque: true,
            pixels: [0, 0, 0, 255, 100, 0, 0, 255, 0, 8, 0, 255, 0, 0, 0, 255] + [
                0, 0, 0, 255, 100, 0, 0, 255, 0, 8, 0, 255, 0, 16, 0, 255,
            ])
        let geometry = ResizeGeometry(source: source.size, box: PixelSize(2, 1), mode: .stretch, upscale: false)
        let result = try source.resampled(geometry, filter: .area)
        let left = try #require(result.pixel(x: 0, y: 0))
        let right = try #require(result.pixel(x: 1, y: 0))
        #expect(left.blue == 50)
        #expect(right.green == 8)
    }

    @Test func coloursNeverExceedTheirAlpha() throws {
        // A hard edge between opaque white and nothing, where Lanczos overshoots.
        let source = try Bitmap(size: PixelSize(64, 4), isOpaque: false) { output in
            for index in 0..<64 * 4 {
                let on = index % 64 >= 32
                for channel in 0..<4 { output[index * 4 + channel] = on ? 255 : 0 }
            }
        }
        let geometry = ResizeGeometry(source: source.size, box: PixelSize(23, 4), mode: .stretch, upscale: false)
        let result = try source.resampled(geometry, filter: .lanczos)
        result.withPixels { bytes in
            for offset in stride(from: 0, to: bytes.count, by: 4) {
                #expect(bytes[offset] <= bytes[offset + 3])
            }
        }
    }

    @Test(arguments: [
        (Double.nan, 0, 4, 4), (0, Double.infinity, 4, 4), (0, 0, .nan, 4), (0, 0, 4, .infinity), (0, 0, 0, 4),
        (0, 0, 4, 0), (0, 0, -1, 4), (-1, 0, 4, 4), (0, 5.5, 4, 4), (0, 0, 9.5, 4), (9, 0, 1, 1), (-1e300, 0, 1e300, 1),
    ])
    func aPartThatIsNotThereIsAnError(_ x: Double, _ y: Double, _ width: Double, _ height: Double) throws {
        let source = try Self.gradient(9, 9)
        var geometry = ResizeGeometry(source: source.size, box: PixelSize(3, 3), mode: .stretch, upscale: false)
        (geometry.sourceX, geometry.sourceY) = (x, y)
        (geometry.sourceWidth, geometry.sourceHeight) = (width, height)
        for filter in ResizeFilter.allCases {
            #expect(throws: BitmapError.invalidSource(source.size)) { try source.resampled(geometry, filter: filter) }
        }
    }

    /// A part may lie outside by the rounding errors of a calculation, a millionth of a pixel.
    @Test(arguments: [
        (-1e-6, 0.0, 9.0, 9.0), (0, -1e-6, 9, 9), (0, 0, 9 + 1e-6, 9), (0, 0, 9, 9 + 1e-6), (1e-7, 1e-7, 9, 9),
    ])
    func roundingErrorsAreTolerated(_ x: Double, _ y: Double, _ width: Double, _ height: Double) throws {
        let source = try Self.gradient(9, 9)
        var geometry = ResizeGeometry(source: source.size, box: PixelSize(3, 3), mode: .stretch, upscale: false)
        (geometry.sourceX, geometry.sourceY) = (x, y)
        (geometry.sourceWidth, geometry.sourceHeight) = (width, height)
        #expect(try source.resampled(geometry, filter: .area).size == PixelSize(3, 3))
        // A hundred times as much is no rounding error.
        (geometry.sourceX, geometry.sourceY) = (x * 100, y * 100)
        (geometry.sourceWidth, geometry.sourceHeight) = (9 + (width - 9) * 100, 9 + (height - 9) * 100)
        #expect(throws: BitmapError.invalidSource(source.size)) { try source.resampled(geometry, filter: .area) }
    }

    /// Many source rows a result row: the sums of the rows, whichever way they are added up.
    @Test(arguments: ResizeFilter.allCases, [1, 2, 7, 40]) func tallBecomesLow(filter: ResizeFilter, height: Int) throws
    {
        let tall = try Self.gradient(3, 4000)
        let flat = try Bitmap(size: PixelSize(4000, 3), isOpaque: true) { output in
            for y in 0..<4000 {
                for x in 0..<3 {
                    let pixel = try #require(tall.pixel(x: x, y: y))
                    let bytes = [pixel.blue, pixel.green, pixel.red, pixel.alpha]
                    for channel in 0..<4 { output[(x * 4000 + y) * 4 + channel] = bytes[channel] }
                }
            }
        }
        func reduced(_ bitmap: Bitmap, _ size: PixelSize) throws -> Bitmap {
            let geometry = ResizeGeometry(source: bitmap.size, box: size, mode: .stretch, upscale: false)
            return try bitmap.resampled(geometry, filter: filter)
        }
        let low = try reduced(tall, PixelSize(3, height))
        // Turned by a quarter nothing is added up over rows.
        let narrow = try reduced(flat, PixelSize(height, 3))
        for y in 0..<height {
            for x in 0..<3 {
                let (left, right) = (try #require(low.pixel(x: x, y: y)), try #require(narrow.pixel(x: y, y: x)))
                #expect(abs(Int(left.green) - Int(right.green)) <= 1)
                #expect(abs(Int(left.red) - Int(right.red)) <= 1)
                #expect(left.alpha == 255)
            }
        }
    }

    @Test func cancellationStopsInTheMiddleOfAResultRow() throws {
        let asked = Lock(0)
        let context = WorkContext(isCancelled: {
            asked.withLock { asked in
                asked += 1
                return asked > 3
            }
        })
        let source = try Self.gradient(3, 4000)
        let geometry = ResizeGeometry(source: source.size, box: PixelSize(3, 1), mode: .stretch, upscale: false)
        #expect(throws: CancellationError.self) { try source.resampled(geometry, context: context) }
    }

    @Test func identityCopiesNothing() throws {
        let source = try Self.gradient(9, 9)
        let geometry = ResizeGeometry(source: source.size, box: PixelSize(20, 20), mode: .fit, upscale: false)
        #expect(try source.resampled(geometry) === source)
    }

    @Test func cancellationStopsTheWork() throws {
        let source = try Self.gradient(64, 64)
        let geometry = ResizeGeometry(source: source.size, box: PixelSize(32, 32), mode: .fit, upscale: false)
        let cancelled = WorkContext(isCancelled: { true })
        #expect(throws: CancellationError.self) { try source.resampled(geometry, context: cancelled) }
    }
}
