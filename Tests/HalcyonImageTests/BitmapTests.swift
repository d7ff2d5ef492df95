import HalcyonImage
import Testing

@Suite struct BitmapTests {
    /// 3 x 2 pixels, numbered in their blue channel from 1.
    static func numbered(_ width: Int = 3, _ height: Int = 2) throws -> Bitmap {
        try Bitmap(
            size: PixelSize(width, height), isOpaque: true,
            pixels: (1...width * height).flatMap { [UInt8($0), 0, 0, 255] })
    }

    static func blues(_ bitmap: Bitmap) -> [[UInt8]] {
        (0..<bitmap.height).map { y in (0..<bitmap.width).compactMap { bitmap.pixel(x: $0, y: y)?.blue } }
    }

    /// The upright pixels of 1 2 3 / 4 5 6 as stored with each EXIF orientation.
    @Test(arguments: [
        (Orientation.up, [[1, 2, 3], [4, 5, 6]]), (.upMirrored, [[3, 2, 1], [6, 5, 4]]),
        (.down, [[6, 5, 4], [3, 2, 1]]), (.downMirrored, [[4, 5, 6], [1, 2, 3]]),
        (.leftMirrored, [[1, 4], [2, 5], [3, 6]]), (.right, [[4, 1], [5, 2], [6, 3]]),
        (.rightMirrored, [[6, 3], [5, 2], [4, 1]]), (.left, [[3, 6], [2, 5], [1, 4]]),
    ])
    func orientations(orientation: Orientation, upright: [[UInt8]]) throws {
        #expect(try Self.blues(Self.numbered().oriented(orientation)) == upright)
    }

    @Test(arguments: Orientation.allCases) func orientationsOfMoreThanOneTile(_ orientation: Orientation) throws {
        let size = PixelSize(70, 45)
        let source = try Bitmap(size: size, isOpaque: true) { output in
            for index in 0..<70 * 45 {
                let (x, y) = (index % 70, index / 70)
                for (channel, value) in [x, y, x ^ y, 255].enumerated() { output[index * 4 + channel] = UInt8(value) }
            }
        }
        let upright = try source.oriented(orientation)
        #expect(upright.size == orientation.applied(to: size))
        // Turning back is the same orientation, but for the two quarter turns, which undo each other.
        let inverse: Orientation = orientation == .right ? .left : orientation == .left ? .right : orientation
        let back = try upright.oriented(inverse)
        let same = source.withPixels { left in back.withPixels { right in left.elementsEqual(right) } }
        #expect(same)
    }

    @Test func cropping() throws {
        let cut = try Self.numbered().cropped(to: PixelRect(x: 1, y: 0, width: 2, height: 2))
        #expect(Self.blues(cut) == [[2, 3], [5, 6]])
        #expect(throws: BitmapError.invalidSize(PixelSize(3, 1))) {
            try Self.numbered().cropped(to: PixelRect(x: 1, y: 0, width: 3, height: 1))
        }
    }

    @Test(arguments: [PixelSize(0, 1), PixelSize(1, 0), PixelSize(-1, 5), PixelSize(.max, .max), PixelSize(1 << 21, 1)])
    func impossibleSizesAreErrors(_ size: PixelSize) {
        #expect(throws: BitmapError.invalidSize(size)) {
            try Bitmap(size: size, isOpaque: true) { _ in Issue.record("filled") }
        }
        #expect(throws: BitmapError.invalidSize(size)) { try Bitmap(size: size, isOpaque: true, pixels: []) }
    }

    @Test func memoryThatTheSystemDoesNotHaveIsAnError() {
        let size = PixelSize(1 << 20, 1 << 20)
        #expect(throws: BitmapError.outOfMemory(bytes: 1 << 42)) {
            try Bitmap(size: size, isOpaque: true) { _ in Issue.record("filled") }
        }
    }

    @Test func largeBitmapsAreAlignedForHugePages() throws {
        let bitmap = try Bitmap(size: PixelSize(1024, 1024), isOpaque: true) { output in
            #expect(Int(bitPattern: output.baseAddress) % (2 << 20) == 0)
            output.initializeMemory(as: UInt8.self, repeating: 7)
        }
        #expect(bitmap.pixel(x: 1023, y: 1023)?.alpha == 7)
    }
}
