import HalcyonImage
import TestSupport
import Testing

@testable import HalcyonCodecs

@Suite(.timeLimit(.minutes(1)))
struct FrameDifferenceTests {
    /// A frame of zeros but for some pixels.
    private func frame(_ size: PixelSize, changed: [(x: Int, y: Int)]) throws -> Bitmap {
        var pixels = [UInt8](repeating: 0, count: size.bitmapBytes)
        // The last byte of a pixel is enough.
        for pixel in changed { pixels[(pixel.y * size.width + pixel.x) * 4 + 3] = 1 }
        return try Bitmap(size: size, isOpaque: false, pixels: pixels)
    }

    @Test func equalFramesHaveNoDifference() throws {
        let size = PixelSize(7, 3)
        let frame = try frame(size, changed: [(2, 1)])
        #expect(FrameDifference.rect(from: frame, to: frame) == nil)
        #expect(try FrameDifference.rect(from: frame, to: self.frame(size, changed: [(2, 1)])) == nil)
    }

    @Test func differenceIsSmallestRectOfAllChanges() throws {
        var random = SplitMix(state: 20)
        for _ in 0..<500 {
            let size = PixelSize(.random(in: 1...9, using: &random), .random(in: 1...7, using: &random))
            let changed = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                (x: Int.random(in: 0..<size.width, using: &random), y: Int.random(in: 0..<size.height, using: &random))
            }
            let (xs, ys) = (changed.map(\.x), changed.map(\.y))
            let (left, top) = (try #require(xs.min()), try #require(ys.min()))
            let expected = PixelRect(
                x: left, y: top, width: try #require(xs.max()) - left + 1, height: try #require(ys.max()) - top + 1)
            let (old, new) = (try frame(size, changed: []), try frame(size, changed: changed))
            #expect(FrameDifference.rect(from: old, to: new) == expected, "\(size) \(changed)")
        }
    }
}
