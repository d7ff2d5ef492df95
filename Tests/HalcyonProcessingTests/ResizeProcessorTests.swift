import HalcyonImage
import HalcyonProcessing
import HalcyonSystem
import Testing

@Suite struct ResizeProcessorTests {
    @Test(
        arguments: ResizeFilter.allCases,
        [PixelSize(9, 5), PixelSize(23, 3), PixelSize(1, 1), PixelSize(31, 40), PixelSize(22, 17), PixelSize(5, 60)])
    func stretchIsWhatATextbookSays(filter: ResizeFilter, size: PixelSize) throws {
        let source = try noise(23, 17)
        let result = try source.processed(by: .resize(to: size, mode: .stretch, upscale: true, filter: filter))
        let plain = PlainResample(source, to: size, filter: filter).pixels()
        try expect(result, size, within: 1) { x, y in plain[y * size.width + x] }
        #expect(isPremultiplied(result))
    }

    @Test(arguments: ResizeFilter.allCases)
    func fillUsesTheMiddleAndItsSurroundings(filter: ResizeFilter) throws {
        let source = try noise(40, 21)
        let result = try source.processed(by: .resize(to: PixelSize(10, 7), mode: .fill, filter: filter))
        var plain = PlainResample(source, to: PixelSize(10, 7), filter: filter)
        (plain.x, plain.width) = (5, 30)
        let pixels = plain.pixels()
        try expect(result, PixelSize(10, 7), within: 1) { x, y in pixels[y * 10 + x] }
    }

    @Test(arguments: [
        (PixelSize(24, 24), ResizeMode.fit, false, PixelSize(24, 16)),
        (PixelSize(24, 24), .fill, false, PixelSize(24, 24)),
        (PixelSize(24, 24), .stretch, false, PixelSize(24, 24)), (PixelSize(96, 96), .fit, false, PixelSize(48, 32)),
        (PixelSize(96, 96), .fit, true, PixelSize(96, 64)), (PixelSize(96, 96), .fill, false, PixelSize(32, 32)),
        (PixelSize(96, 96), .fill, true, PixelSize(96, 96)), (PixelSize(96, 8), .stretch, false, PixelSize(48, 8)),
        (PixelSize(96, 8), .stretch, true, PixelSize(96, 8)), (PixelSize(1, 1), .fit, false, PixelSize(1, 1)),
        (PixelSize(65_535, 1), .fit, false, PixelSize(2, 1)),
    ])
    func eachModeHasItsSize(box: PixelSize, mode: ResizeMode, upscale: Bool, size: PixelSize) throws {
        #expect(try noise(48, 32).processed(by: .resize(to: box, mode: mode, upscale: upscale)).size == size)
    }

    @Test func oneSideIsEnough() throws {
        // 48 x 32.
        let source = try noise(48, 32)
        #expect(try source.processed(by: .resize(width: 24)).size == PixelSize(24, 16))
        #expect(try source.processed(by: .resize(height: 8)).size == PixelSize(12, 8))
        #expect(try source.processed(by: .resize(width: 96)).bitmap === source.bitmap)
        #expect(try source.processed(by: .resize(height: 64)).bitmap === source.bitmap)
        #expect(try source.processed(by: .resize(width: 96, upscale: true)).size == PixelSize(96, 64))
        #expect(try source.processed(by: .resize(height: 64, upscale: true)).size == PixelSize(96, 64))
        let nearest = try source.processed(by: .resize(width: 24, filter: .nearest))
        #expect(nearest.bytes == (try source.processed(by: .resize(to: PixelSize(24, 16), filter: .nearest))).bytes)
        for side in [0, -1, Int.min, 65_536, Int.max] {
            expectInvalidArgument(ResizeProcessor.resize(width: side), source)
            expectInvalidArgument(ResizeProcessor.resize(height: side), source)
        }
    }

    @Test func factsAndOpacityStay() throws {
        let source = try noise(20, 10, hasAlpha: false)
        let result = try source.processed(by: .resize(to: PixelSize(5, 5)))
        #expect(result.info == source.info)
        #expect(result.bitmap.isOpaque)
        #expect(stride(from: 3, to: result.bytes.count, by: 4).allSatisfy { result.bytes[$0] == 255 })
    }

    @Test func aSizeThatFitsCopiesNothing() throws {
        let source = try noise(20, 10)
        #expect(try source.processed(by: .resize(to: PixelSize(20, 10))).bitmap === source.bitmap)
        #expect(try source.processed(by: .resize(to: PixelSize(400, 400))).bitmap === source.bitmap)
    }

    @Test(arguments: [0, -1, Int.min, Int.max, 65_536, 1 << 40], ResizeMode.allCases)
    func sidesThatNoImageHasAreRefused(side: Int, mode: ResizeMode) throws {
        let source = try noise(4, 4)
        for size in [PixelSize(side, 5), PixelSize(5, side), PixelSize(side, side)] {
            for upscale in [false, true] {
                let processor = ResizeProcessor(size, mode: mode, upscale: upscale)
                expectInvalidArgument(processor, source)
                #expect(throws: ProcessingError.self) { try processor.validate() }
            }
        }
    }

    @Test(arguments: ResizeMode.allCases) func sharpeningComesAfterAReduction(mode: ResizeMode) throws {
        let (source, box) = (try noise(48, 32), PixelSize(20, 20))
        let plain = try source.processed(by: .resize(to: box, mode: mode))
        let expected = try plain.processed(by: .sharpen(amount: 0.5, radius: 0.6))
        let sharp = try source.processed(by: .resize(to: box, mode: mode, sharpening: 0.5))
        #expect(sharp.bytes == expected.bytes)
        #expect(sharp.bytes != plain.bytes)
        // In a run of cuts and turns, at its place.
        let turned: [any ImageProcessor] = [
            .flip(.horizontal), .resize(to: box, mode: mode, sharpening: 0.5), .invert,
        ]
        let steps: [any ImageProcessor] = [
            .flip(.horizontal), .resize(to: box, mode: mode), .sharpen(amount: 0.5, radius: 0.6), .invert,
        ]
        #expect(try source.processed(by: turned).bytes == (try source.processed(by: steps)).bytes)
    }

    @Test(arguments: [PixelSize(48, 32), PixelSize(96, 64), PixelSize(48, 16), PixelSize(24, 64)])
    func whatDoesNotBecomeSmallerOnBothSidesIsNotSharpened(box: PixelSize) throws {
        let source = try noise(48, 32)
        let plain = try source.processed(by: .resize(to: box, mode: .stretch, upscale: true))
        let sharp = try source.processed(by: .resize(to: box, mode: .stretch, upscale: true, sharpening: 1))
        #expect(sharp.bytes == plain.bytes)
    }

    @Test(arguments: [-0.1, 100.1, .infinity, .nan]) func amountsThatSharpenNothingAreRefused(amount: Double) throws {
        expectInvalidArgument(ResizeProcessor.resize(width: 2, sharpening: amount), try noise(4, 4))
    }

    @Test func cancelledWorkEnds() throws {
        let cancelled = WorkContext(isCancelled: { true })
        let source = try noise(40, 40)
        #expect(throws: CancellationError.self) {
            try ResizeProcessor(PixelSize(20, 20)).process(source, context: cancelled)
        }
    }
}
