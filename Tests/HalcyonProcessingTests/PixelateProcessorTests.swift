import HalcyonImage
import HalcyonProcessing
import Testing

@Suite struct PixelateProcessorTests {
    @Test(arguments: [2, 3, 4, 7, 16, 22, 23, 24, 1000, .max], [false, true])
    func squaresAreTheirMeans(side: Int, hasAlpha: Bool) throws {
        let source = try noise(23, 17, hasAlpha: hasAlpha)
        let result = try source.processed(by: .pixelate(side: side))
        // From the top left; those at the right and the bottom are what is left over.
        let step = min(side, 23)
        var means: [PixelRect: Pixel] = [:]
        try expect(result, source.size) { x, y in
            let (left, top) = (x / step * step, y / step * step)
            let square = PixelRect(x: left, y: top, width: min(step, 23 - left), height: min(step, 17 - top))
            let mean = means[square] ?? mean(of: square, in: source)
            means[square] = mean
            return mean
        }
        #expect(result.bitmap.isOpaque == !hasAlpha)
        #expect(result.info == source.info)
    }

    private func mean(of square: PixelRect, in image: Image) -> Pixel {
        let count = square.size.width * square.size.height
        var sums = [0, 0, 0, 0]
        for y in 0..<square.size.height {
            for x in 0..<square.size.width {
                for (channel, value) in image[square.x + x, square.y + y].enumerated() { sums[channel] += Int(value) }
            }
        }
        return sums.map { UInt8((2 * $0 + count) / (2 * count)) }
    }

    @Test func halvesAreRoundedUp() throws {
        let source = try image(2, 1, [0, 10, 254, 255, 1, 11, 255, 255])
        let result = try source.processed(by: .pixelate(side: 2))
        #expect(result.bytes == [1, 11, 255, 255, 1, 11, 255, 255])
    }

    @Test func squaresOfOnePixelCopyNothing() throws {
        let source = try noise(20, 10)
        #expect(try source.processed(by: .pixelate(side: 1)).bitmap === source.bitmap)
    }
}
