import Foundation
import Halcyon

/// A small sample picture for the processors: a house between hills, the sun above, a word below.
enum SampleScene {
    static let size = PixelSize(160, 120)
    /// The number of samples of a pixel on each axis.
    private static let steps = 3

    private typealias Paint = SIMD3<Double>

    /// Draws the picture.
    ///
    /// - Parameter isCutOut: Whether the picture ends at a rounded edge and is clear outside of it.
    static func bitmap(isCutOut: Bool) throws -> Bitmap {
        try Bitmap(size: size, isOpaque: !isCutOut) { output in
            for y in 0..<size.height {
                for x in 0..<size.width { paint(x, y, isCutOut: isCutOut, output) }
            }
        }
    }

    private static func paint(_ x: Int, _ y: Int, isCutOut: Bool, _ output: UnsafeMutableRawBufferPointer) {
        var (sum, covered) = (Paint.zero, 0.0)
        for step in 0..<(steps * steps) {
            let (column, row) = (step % steps, step / steps)
            let place = SIMD2(
                Double(x) + (Double(column) + 0.5) / Double(steps), Double(y) + (Double(row) + 0.5) / Double(steps))
            if isCutOut, !isInside(place) { continue }
            sum += color(at: place)
            covered += 1
        }
        // Premultiplied: samples outside of the edge add nothing.
        let pixel = sum / Double(steps * steps) * 255
        let offset = (y * size.width + x) * 4
        output[offset] = UInt8(pixel.z.rounded())
        output[offset + 1] = UInt8(pixel.y.rounded())
        output[offset + 2] = UInt8(pixel.x.rounded())
        output[offset + 3] = UInt8((covered / Double(steps * steps) * 255).rounded())
    }

    private static func isInside(_ place: SIMD2<Double>) -> Bool {
        let from = (place - SIMD2(80, 60)) / SIMD2(76, 56)
        let square = from * from
        return square.x * square.x + square.y * square.y < 1
    }

    private static func color(at place: SIMD2<Double>) -> Paint {
        if isText(place) { return Paint(1, 0.97, 0.88) }
        if let house = house(at: place) { return house }
        let (x, y) = (place.x, place.y)
        if y > 88 + 5 * sin(x / 23 + 1) { return mix(Paint(0.24, 0.55, 0.28), Paint(0.10, 0.33, 0.20), (y - 84) / 36) }
        if y > 70 + 9 * sin(x / 31 + 4) { return mix(Paint(0.47, 0.71, 0.36), Paint(0.24, 0.52, 0.30), (y - 62) / 30) }
        if y > 52 + 12 * sin(x / 19 + 2.2) + 5 * sin(x / 7) {
            return mix(Paint(0.52, 0.58, 0.78), Paint(0.36, 0.47, 0.62), (y - 40) / 36)
        }
        return sky(at: place)
    }

    private static func sky(at place: SIMD2<Double>) -> Paint {
        let sky = mix(Paint(0.16, 0.42, 0.80), Paint(0.99, 0.84, 0.62), place.y / 70)
        let from = place - SIMD2(118, 28)
        let distance = (from * from).sum().squareRoot()
        if distance < 13 { return Paint(1, 0.90, 0.36) }
        return mix(Paint(1, 0.93, 0.66), sky, min(1, 0.35 + (distance - 13) / 26))
    }

    /// Returns the colour of the walls, the roof, the door or the two windows; nil outside of the house.
    private static func house(at place: SIMD2<Double>) -> Paint? {
        let (x, y) = (place.x - 24, place.y - 46)
        if y > 0, y < 14, abs(x - 17) < 7 + y { return Paint(0.72, 0.22, 0.20) }
        guard (0..<34).contains(x), (14..<38).contains(y) else { return nil }
        if (14..<21).contains(x), y > 24 { return Paint(0.36, 0.22, 0.16) }
        if (4..<10).contains(x) || (25..<31).contains(x), (19..<26).contains(y) { return Paint(0.55, 0.80, 0.92) }
        return Paint(0.96, 0.92, 0.82)
    }

    private static func isText(_ place: SIMD2<Double>) -> Bool {
        let x = Int(((place.x - 70) / 2).rounded(.down)), y = Int(((place.y - 89) / 2).rounded(.down))
        guard x >= 0, (0..<PixelFont.glyphHeight).contains(y) else { return false }
        var pen = 0
        for character in "Hills" {
            let glyph = PixelFont.glyph(for: character)
            if (pen..<pen + glyph.width).contains(x) { return glyph.rows[y] >> UInt32(x - pen) & 1 == 1 }
            pen += glyph.width
        }
        return false
    }

    private static func mix(_ from: Paint, _ to: Paint, _ share: Double) -> Paint {
        from + (to - from) * min(max(share, 0), 1)
    }
}
