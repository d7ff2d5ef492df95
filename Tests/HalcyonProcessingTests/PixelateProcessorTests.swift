import HalcyonImage
import HalcyonProcessing
import Testing

@Suite struct PixelateProcessorTests {
    @Test(arguments: [2, 3, 4, 7, 16, 22, 23, 24, 1000, .max], [false, true])
    func squaresAreTheirMeans(side: Int, hasAlpha: Bool) throws {
        let source = try noise(23, 17, hasAlpha: hasAlpha)
        let result = try source.processed(by: .pixelate(side: side))
        // From the top left; those at the right and the bottom are what is left over.
        try expect(result, source.size) { x, y in
            let columns = x / side * side..<min(23, x / side * side + min(side, 23))
            let rows = y / side * side..<min(17, y / side * side + min(side, 17))
            let count = columns.count * rows.count
            var sums = [0, 0, 0, 0]
            for row in rows {
                for column in columns {
                    for (channel, value) in source[column, row].enumerated() { sums[channel] += Int(value) }
                }
            }
            return sums.map { UInt8((2 * $0 + count) / (2 * count)) }
        }
        #expect(result.bitmap.isOpaque == !hasAlpha)
        #expect(result.info == source.info)
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
