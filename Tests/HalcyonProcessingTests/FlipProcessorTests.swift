import HalcyonImage
import HalcyonProcessing
import Testing

@Suite struct FlipProcessorTests {
    @Test(arguments: [
        PixelSize(23, 17), PixelSize(16, 16), PixelSize(1, 1), PixelSize(1, 9), PixelSize(9, 1), PixelSize(67, 2),
    ])
    func eachPixelIsWhereAMirrorShowsIt(size: PixelSize) throws {
        for hasAlpha in [false, true] {
            let source = try noise(size.width, size.height, hasAlpha: hasAlpha)
            let across = try source.processed(by: .flip(.horizontal))
            try expect(across, size) { x, y in source[size.width - 1 - x, y] }
            let down = try source.processed(by: .flip(.vertical))
            try expect(down, size) { x, y in source[x, size.height - 1 - y] }
            for result in [across, down] {
                #expect(result.info == source.info)
                #expect(result.bitmap.isOpaque == !hasAlpha)
            }
        }
    }

    @Test(arguments: FlipProcessor.Axis.allCases)
    func twiceIsNothing(axis: FlipProcessor.Axis) throws {
        let source = try noise(23, 17)
        #expect(try source.processed(by: .flip(axis)).processed(by: .flip(axis)).bytes == source.bytes)
    }
}
