import HalcyonImage
import HalcyonProcessing
import Testing

@Suite struct CropProcessorTests {
    @Test(arguments: [
        PixelRect(x: 2, y: 3, width: 10, height: 8), PixelRect(x: 0, y: 0, width: 1, height: 1),
        PixelRect(x: 22, y: 16, width: 1, height: 1), PixelRect(x: 0, y: 5, width: 23, height: 1),
        PixelRect(x: 7, y: 0, width: 1, height: 17),
    ])
    func aRectangleIsThePixelsOfItsPlace(rect: PixelRect) throws {
        for hasAlpha in [false, true] {
            let source = try noise(23, 17, hasAlpha: hasAlpha)
            let result = try source.processed(by: .crop(rect))
            try expect(result, rect.size) { x, y in source[rect.x + x, rect.y + y] }
            #expect(result.bitmap.isOpaque == !hasAlpha)
            #expect(result.info == source.info)
        }
    }

    @Test(arguments: [
        (PixelRect(x: -5, y: -4, width: 10, height: 8), PixelRect(x: 0, y: 0, width: 5, height: 4)),
        (PixelRect(x: 20, y: 15, width: 10, height: 8), PixelRect(x: 20, y: 15, width: 3, height: 2)),
        (PixelRect(x: -5, y: 16, width: 100, height: 100), PixelRect(x: 0, y: 16, width: 23, height: 1)),
        (PixelRect(x: 22, y: 16, width: .max, height: .max), PixelRect(x: 22, y: 16, width: 1, height: 1)),
        (PixelRect(x: -1, y: -1, width: .max, height: .max), PixelRect(x: 0, y: 0, width: 23, height: 17)),
    ])
    func cropIsClampedToImage(rect: PixelRect, inside: PixelRect) throws {
        let source = try noise(23, 17)
        let result = try source.processed(by: .crop(rect))
        try expect(result, inside.size) { x, y in source[inside.x + x, inside.y + y] }
    }

    @Test(arguments: [
        PixelRect(x: 23, y: 0, width: 5, height: 5), PixelRect(x: 0, y: 17, width: 5, height: 5),
        PixelRect(x: -5, y: 0, width: 5, height: 5), PixelRect(x: 0, y: -5, width: 5, height: 5),
        PixelRect(x: .max, y: .max, width: .max, height: .max), PixelRect(x: .min, y: 0, width: .max, height: 5),
        PixelRect(x: 1000, y: 1000, width: 1, height: 1),
    ])
    func aRectangleBesideTheImageIsAnError(rect: PixelRect) throws {
        expectNotApplicable(CropProcessor(.rect(rect)), try noise(23, 17))
    }

    @Test(arguments: [0, -1, Int.min])
    func anEmptyRectangleIsAnError(side: Int) throws {
        let source = try noise(4, 4)
        for size in [PixelSize(side, 2), PixelSize(2, side), PixelSize(side, side)] {
            expectInvalidArgument(.crop(to: size), source)
            expectInvalidArgument(.crop(PixelRect(x: 0, y: 0, width: size.width, height: size.height)), source)
        }
    }

    @Test(
        arguments: [
            (0.0, 0.0, 0, 0), (0.5, 0, 3, 0), (1, 0, 6, 0), (0, 0.5, 0, 3), (0.5, 0.5, 3, 3), (1, 0.5, 6, 3),
            (0, 1, 0, 5),
            (0.5, 1, 3, 5), (1, 1, 6, 5), (0.25, 0.75, 2, 4), (-1, 2, 0, 5), (-.infinity, .infinity, 0, 5),
            (.greatestFiniteMagnitude, -.greatestFiniteMagnitude, 6, 0),
        ] as [(Double, Double, Int, Int)])
    func anAnchorSaysWhereASizeSits(anchorX: Double, anchorY: Double, x: Int, y: Int) throws {
        let source = try noise(10, 8)
        let result = try source.processed(by: .crop(to: PixelSize(4, 3), anchorX: anchorX, anchorY: anchorY))
        try expect(result, PixelSize(4, 3)) { source[$0 + x, $1 + y] }
    }

    @Test func aSizeSitsInTheMiddle() throws {
        let source = try noise(10, 8)
        try expect(try source.processed(by: .crop(to: PixelSize(4, 4))), PixelSize(4, 4)) { source[$0 + 3, $1 + 2] }
    }

    @Test func aSizeIsCutToTheImage() throws {
        let source = try noise(10, 8)
        let result = try source.processed(by: .crop(to: PixelSize(4, .max), anchorX: 1, anchorY: 1))
        try expect(result, PixelSize(4, 8)) { source[$0 + 6, $1] }
        #expect(try source.processed(by: .crop(to: PixelSize(.max, .max))).bitmap === source.bitmap)
    }

    @Test func anAnchorThatIsNoNumberIsAnError() throws {
        let source = try noise(10, 8)
        expectInvalidArgument(.crop(to: PixelSize(4, 3), anchorX: .nan), source)
        expectInvalidArgument(.crop(to: PixelSize(4, 3), anchorY: .signalingNaN), source)
    }
}
