import Foundation
import Halcyon

/// Makes pictures of few colours, the same in every run.
enum DrawnImage {
    /// Draws discs and rectangles over each other.
    static func flat(_ size: PixelSize) throws -> Image {
        var random = Noise(seed: 11)
        let shapes = (0..<120).map { _ in
            Shape(
                x: random.below(size.width), y: random.below(size.height), width: 20 + random.below(size.width / 3),
                height: 20 + random.below(size.height / 3), isDisc: random.below(2) == 0, color: random.color())
        }
        return try make(size) { x, y in shapes.last { $0.contains(x, y) }?.color ?? 0xFFF0E0 }
    }

    /// Draws windows full of lines of letters, in shades as a font's edges have them.
    static func screen(_ size: PixelSize) throws -> Image {
        var random = Noise(seed: 12)
        // Letters of 7 x 10 pixels, of which a word of the text names one for each place.
        let letters = (0..<40).map { _ in (0..<70).map { _ in [0, 0, 0, 40, 128, 255][random.below(6)] } }
        let text = (0..<4096).map { _ in random.below(48) }
        return try make(size) { x, y in
            let (left, top) = (x % 640, y % 440)
            guard (12..<620).contains(left), (12..<420).contains(top) else { return 0xF4F5F6 }
            guard left > 13, left < 618, top > 46 else { return 0xC4C8CC }
            let (column, line) = ((left - 14) / 8, (top - 47) / 18)
            let (across, down) = ((left - 14) % 8, (top - 47) % 18)
            let letter = text[(column + line * 80 + x / 640 * 977 + y / 440 * 331) % text.count]
            guard letter < letters.count, across < 7, down < 10 else { return 0xFFFFFF }
            let shade = UInt32(255 - letters[letter][down * 7 + across])
            return line % 5 == 2 ? shade << 16 | shade << 8 | 0xFF : shade * 0x010101
        }
    }

    private struct Shape {
        let x, y, width, height: Int
        let isDisc: Bool
        let color: UInt32

        func contains(_ px: Int, _ py: Int) -> Bool {
            let (dx, dy) = (px - x, py - y)
            guard isDisc else { return dx >= 0 && dy >= 0 && dx < width && dy < height }
            return dx * dx + dy * dy < width * width / 4
        }
    }

    /// - Parameter color: the 0xRRGGBB of a pixel.
    private static func make(_ size: PixelSize, _ color: (Int, Int) -> UInt32) throws -> Image {
        let bitmap = try Bitmap(size: size, isOpaque: true) { bytes in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let pixel = (color(x, y) | 0xFF00_0000).littleEndian
                    bytes.storeBytes(of: pixel, toByteOffset: (y * size.width + x) * 4, as: UInt32.self)
                }
            }
        }
        return Image(bitmap: bitmap, info: ImageInfo(format: .png, size: size, hasAlpha: false))
    }

    /// A linear congruential generator.
    private struct Noise {
        private var state: UInt64

        init(seed: UInt64) { state = seed }

        mutating func below(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % max(1, limit)
        }

        mutating func color() -> UInt32 { UInt32(below(1 << 24)) }
    }
}
