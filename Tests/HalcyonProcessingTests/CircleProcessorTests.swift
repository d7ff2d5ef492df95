import HalcyonImage
import HalcyonProcessing
import Testing

@Suite struct CircleProcessorTests {
    @Test(
        arguments: [
            PixelSize(30, 30), PixelSize(31, 21), PixelSize(20, 33), PixelSize(1, 1), PixelSize(2, 9), PixelSize(5, 1),
        ], RoundCornersFrameTests.borders)
    func circleIsLargestCenteredOne(size: PixelSize, border: ImageBorder?) throws {
        for (hasAlpha, ground) in zip([false, true, false, true], RoundCornersFrameTests.grounds) {
            let source = try noise(size.width, size.height, hasAlpha: hasAlpha)
            let side = min(size.width, size.height)
            let square = try source.processed(by: .crop(to: PixelSize(side, side)))
            let result = try source.processed(by: .circle(border: border, background: ground))
            let plain = PlainFrame(source: square, radius: Double(side) / 2, border: border, ground: ground)
            try expect(result, plain.image(), within: 2)
            expectSound(result, "\(size)")
            #expect(result.info == source.info)
        }
    }

    @Test func coverageMatchesAreaOfCircle() throws {
        let result = try flat(50, 60, [255, 255, 255, 255]).processed(by: .circle())
        let area = stride(from: 3, to: result.bytes.count, by: 4).reduce(0.0) { $0 + Double(result.bytes[$1]) / 255 }
        // Each of some 140 edge pixels is rounded by half a level at most.
        #expect(abs(area - .pi * 25 * 25) < 0.3)
        #expect(result.size == PixelSize(50, 50))
    }
}
