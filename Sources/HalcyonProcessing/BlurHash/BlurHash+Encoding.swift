import Foundation
import HalcyonImage

extension BlurHash {
    /// Encodes an image's pixels, or those of an animation's first frame.
    ///
    /// An image of at most 64 pixels a side is encoded pixel by pixel, and its text is the one that the published
    /// formulas give. A larger image is reduced to 64 blocks a side: the light of each block is summed exactly, and
    /// each wave is replaced by its average over the block. The result is the text of the whole image, except that
    /// fine noise may move a value by one of its 19 steps. Cost: one pass over the pixels, some 2 milliseconds for a
    /// megapixel; the thumbnail of a large image serves as well.
    ///
    /// - Parameters:
    ///   - componentsX: The number of cosine waves across, 1 to 9, 4 by default.
    ///   - componentsY: The number of cosine waves down, 1 to 9, 3 by default.
    ///   - background: The colour behind transparent pixels, since the format has no alpha; white by default. Its own
    ///     alpha is ignored.
    /// - Throws: `BlurHashError.invalidComponents`, `.invalidBackground`.
    public init(
        encoding image: Image, componentsX: Int = 4, componentsY: Int = 3, background: Color = .white
    ) throws(BlurHashError) {
        guard (1...9).contains(componentsX), (1...9).contains(componentsY) else {
            throw .invalidComponents(x: componentsX, y: componentsY)
        }
        guard background.isFinite else { throw .invalidBackground }
        let grid = BlurHashGrid(image.bitmap, background: background.clamped)
        let components = grid.components(componentsX, componentsY)

        let strongest = components.dropFirst().reduce(0) { max($0, abs($1.x), abs($1.y), abs($1.z)) }
        let strength = Int(min(max((strongest * 166 - 0.5).rounded(.down), 0), 82))
        let average = Self.combined(components[0], base: 256) { LinearLight.byte($0) }
        var digits = [UInt8((componentsY - 1) * 9 + componentsX - 1), UInt8(strength)]
        digits += Base83.digits(average, count: 4)
        for wave in components.dropFirst() {
            let value = Self.combined(wave, base: 19) { Self.step($0 / (Double(strength + 1) / 166)) }
            digits += Base83.digits(value, count: 2)
        }
        self.init(digits, componentsX: componentsX, componentsY: componentsY)
    }

    /// Combines three channels into one number, red in the most significant place.
    private static func combined(_ color: SIMD3<Double>, base: Int, _ digit: (Double) -> Int) -> Int {
        (digit(color.x) * base + digit(color.y)) * base + digit(color.z)
    }

    /// Returns the step, 0 to 18, of a wave's amount relative to the strongest wave, -1 to 1. The scale is a square
    /// root; step 9 is zero.
    private static func step(_ part: Double) -> Int {
        let root = part < 0 ? -(-part).squareRoot() : part.squareRoot()
        return Int(min(max((root * 9 + 9.5).rounded(.down), 0), 18))
    }
}

/// The light of an image in at most 64 by 64 blocks of pixels.
struct BlurHashGrid {
    private static let maximumSide = 64

    private let size: PixelSize
    /// The pixel ranges of the blocks across and down.
    private let columns: [Range<Int>]
    private let rows: [Range<Int>]
    /// The sums of the light of each block's pixels, row by row: red, green, blue.
    private let sums: [SIMD3<Double>]

    /// - Parameter background: A colour with every channel within 0...1; its alpha is ignored.
    init(_ bitmap: Bitmap, background: Color) {
        let columns = Self.blocks(bitmap.width)
        let rows = Self.blocks(bitmap.height)
        var sums = [SIMD3<Double>](repeating: .zero, count: columns.count * rows.count)
        let pixels = PixelLight(background: background)
        bitmap.withPixels { bytes in
            for (row, lines) in rows.enumerated() {
                for y in lines {
                    let start = y * bitmap.bytesPerRow
                    for (column, range) in columns.enumerated() {
                        let part = start + range.lowerBound * 4..<start + range.upperBound * 4
                        sums[row * columns.count + column] += pixels.sum(UnsafeRawBufferPointer(rebasing: bytes[part]))
                    }
                }
            }
        }
        (size, self.columns, self.rows, self.sums) = (bitmap.size, columns, rows, sums)
    }

    /// Returns the components, row by row: the average of light times wave, doubled for all but the first.
    func components(_ countX: Int, _ countY: Int) -> [SIMD3<Double>] {
        let across = (0..<countX).map { Self.cosines($0, columns, of: size.width) }
        let down = (0..<countY).map { Self.cosines($0, rows, of: size.height) }
        // The sums along each row of blocks, computed once, as they do not depend on the wave down.
        let lines = rows.indices.map { row in
            across.map { wave in
                wave.enumerated().reduce(SIMD3<Double>.zero) { $0 + sums[row * columns.count + $1.offset] * $1.element }
            }
        }
        let area = Double(size.width) * Double(size.height)
        return (0..<countX * countY).map { index in
            let (x, wave) = (index % countX, down[index / countX])
            let sum = lines.indices.reduce(SIMD3<Double>.zero) { $0 + lines[$1][x] * wave[$1] }
            return sum * ((index == 0 ? 1 : 2) / area)
        }
    }

    /// Divides `length` pixels into at most 64 ranges whose lengths differ by at most one pixel.
    private static func blocks(_ length: Int) -> [Range<Int>] {
        let count = min(length, maximumSide)
        return (0..<count).map { $0 * length / count..<($0 + 1) * length / count }
    }

    /// Returns the average of `cos(pi * component * x / length)` over each range, by the closed form of such a sum.
    private static func cosines(_ component: Int, _ ranges: [Range<Int>], of length: Int) -> [Double] {
        let angle = .pi * Double(component) / Double(length)
        return ranges.map { range in
            let count = Double(range.count)
            let middle = cos(angle * (Double(range.lowerBound) + (count - 1) / 2))
            // The sine below is not zero for a range of more than one pixel: that would need a wave shorter than two
            // pixels.
            if component == 0 || range.count == 1 { return middle }
            return middle * sin(angle * count / 2) / (count * sin(angle / 2))
        }
    }
}

/// Computes the light of pixels on a background.
struct PixelLight {
    private let light = LinearLight.ofByte
    private let blue: Int
    private let green: Int
    private let red: Int

    /// - Parameter background: A colour with every channel within 0...1; its alpha is ignored.
    init(background: Color) {
        func byte(_ value: Double) -> Int { Int((value * 255).rounded()) }
        blue = byte(background.blue)
        green = byte(background.green)
        red = byte(background.red)
    }

    /// Returns the sum of the light of premultiplied pixels in a row.
    func sum(_ bytes: UnsafeRawBufferPointer) -> SIMD3<Double> {
        var sums: (Double, Double, Double) = (0, 0, 0)
        light.withUnsafeBufferPointer { light in
            for offset in stride(from: 0, to: bytes.count, by: 4) {
                let rest = 255 - Int(bytes[offset + 3])
                func over(_ channel: Int, _ background: Int) -> Double {
                    let value = Int(bytes[offset + channel])
                    return light[rest == 0 ? value : min(255, value + (background * rest + 127) / 255)]
                }
                sums.0 += over(2, red)
                sums.1 += over(1, green)
                sums.2 += over(0, blue)
            }
        }
        return SIMD3(sums.0, sums.1, sums.2)
    }
}
