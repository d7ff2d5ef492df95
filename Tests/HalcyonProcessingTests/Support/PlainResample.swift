import Foundation
import HalcyonImage

/// Resampling as a textbook writes it: for each result pixel a sum over every source pixel, in double precision; in linear
/// light, of the light of IEC 61966-2-1 that is weighted by alpha.
struct PlainResample {
    let source: Image
    let filter: ResizeFilter
    var light = ResizeLight.encoded
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

    /// Every pixel of the result, row by row, rounded.
    func pixels() -> [Pixel] { values().map { $0.map { UInt8($0.rounded()) } } }

    /// Every pixel of the result, row by row, from 0 to 255.
    func values() -> [[Double]] {
        let across = (0..<size.width).map { weights($0, of: size.width, x, width, source.width) }
        let down = (0..<size.height).map { weights($0, of: size.height, y, height, source.height) }
        return down.flatMap { rows in across.map { pixel($0, rows) } }
    }

    private func pixel(_ columns: [Double], _ rows: [Double]) -> [Double] {
        var sums = [0.0, 0, 0, 0]
        for (y, row) in rows.enumerated() where row != 0 {
            for (x, column) in columns.enumerated() where column != 0 {
                for (channel, value) in values(x, y).enumerated() { sums[channel] += value * row * column }
            }
        }
        let alpha = min(max(sums[3], 0), 255)
        guard light == .linear else { return sums.map { min(max($0, 0), alpha) } }
        guard sums[3] > 0 else { return [0, 0, 0, 0] }
        return sums[..<3].map { Self.encoded(min(max($0 / sums[3], 0), 1)) * alpha } + [alpha]
    }

    /// The values of a source pixel that are averaged.
    private func values(_ x: Int, _ y: Int) -> [Double] {
        let pixel = source[x, y].map { Double($0) }
        guard light == .linear else { return pixel }
        return pixel[..<3].map { pixel[3] == 0 ? 0 : Self.light($0 / pixel[3]) * pixel[3] } + [pixel[3]]
    }

    /// The light of a value of sRGB, both from 0 to 1.
    static func light(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    /// The inverse of `light`.
    static func encoded(_ light: Double) -> Double {
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
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
