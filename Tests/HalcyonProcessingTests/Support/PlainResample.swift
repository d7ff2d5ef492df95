import Foundation
import HalcyonImage

/// Resampling as a textbook writes it: for each result pixel a sum over every source pixel, in double precision.
struct PlainResample {
    let source: Image
    let filter: ResizeFilter
    /// The part that is used, in source pixels.
    var x = 0.0
    var y = 0.0
    var width: Double
    var height: Double
    let size: PixelSize

    init(_ source: Image, to size: PixelSize, filter: ResizeFilter) {
        (self.source, self.filter, self.size) = (source, filter, size)
        width = Double(source.width)
        height = Double(source.height)
    }

    /// Every pixel of the result, row by row.
    func pixels() -> [Pixel] {
        let across = (0..<size.width).map { weights($0, of: size.width, x, width, source.width) }
        let down = (0..<size.height).map { weights($0, of: size.height, y, height, source.height) }
        return down.flatMap { rows in across.map { pixel($0, rows) } }
    }

    private func pixel(_ columns: [Double], _ rows: [Double]) -> Pixel {
        var sums = [0.0, 0, 0, 0]
        for (y, row) in rows.enumerated() where row != 0 {
            for (x, column) in columns.enumerated() where column != 0 {
                for (channel, value) in source[x, y].enumerated() { sums[channel] += Double(value) * row * column }
            }
        }
        let alpha = min(max(sums[3], 0), 255)
        return sums.map { UInt8(min(max($0, 0), alpha).rounded()) }
    }

    /// How much each source pixel counts for one result pixel; together 1.
    private func weights(_ index: Int, of count: Int, _ from: Double, _ length: Double, _ source: Int) -> [Double] {
        let scale = length / Double(count)
        let centre = from + (Double(index) + 0.5) * scale
        let stretch = max(scale, 1)
        let weights = (0..<source).map { pixel -> Double in
            let distance = abs(Double(pixel) + 0.5 - centre) / stretch
            switch filter {
            case .nearest: return pixel == Int(centre) ? 1 : 0
            case .area:
                let right = min(centre + stretch / 2, Double(pixel) + 1)
                return max(0, right - max(centre - stretch / 2, Double(pixel)))
            case .bilinear: return max(0, 1 - distance)
            case .lanczos: return distance < 3 ? Self.sinc(distance) * Self.sinc(distance / 3) : 0
            }
        }
        let sum = weights.reduce(0, +)
        return weights.map { $0 / sum }
    }

    private static func sinc(_ x: Double) -> Double {
        x == 0 ? 1 : sin(x * .pi) / (x * .pi)
    }
}
