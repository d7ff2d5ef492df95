import Foundation
import HalcyonImage

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
