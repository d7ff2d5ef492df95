import Foundation
import HalcyonImage
import Testing

/// Pixels in double precision, for references: blue, green, red and alpha from 0 to 255, premultiplied.
struct PlainImage {
    let size: PixelSize
    private(set) var values: [Double]

    init(_ image: Image) {
        size = image.size
        values = image.bytes.map(Double.init)
    }

    init(_ size: PixelSize, _ pixel: (_ x: Int, _ y: Int) -> [Double]) {
        self.size = size
        values = []
        for y in 0..<size.height {
            for x in 0..<size.width { values += pixel(x, y) }
        }
    }

    subscript(x: Int, y: Int) -> [Double] {
        let offset = (y * size.width + x) * 4
        return Array(values[offset..<offset + 4])
    }

    /// Each pixel, made of the one here and that of another image of the same size.
    func merged(_ other: PlainImage, _ pixel: ([Double], [Double]) -> [Double]) -> PlainImage {
        PlainImage(size) { x, y in pixel(self[x, y], other[x, y]) }
    }

    func map(_ pixel: ([Double]) -> [Double]) -> PlainImage {
        PlainImage(size) { x, y in pixel(self[x, y]) }
    }

    /// Over one colour.
    func over(_ ground: Color) -> PlainImage {
        let ground = ground.plain
        return map { Self.over($0, ground) }
    }

    static func over(_ pixel: [Double], _ ground: [Double]) -> [Double] {
        zip(pixel, ground).map { $0 + $1 * (1 - pixel[3] / 255) }
    }
}

extension PlainImage {
    /// A Gaussian out to six standard deviations, across and then down; beyond its edges the image goes on as its
    /// outermost pixels.
    func blurred(sigma: Double) -> PlainImage {
        let (across, down) = (Self.weights(size.width, sigma), Self.weights(size.height, sigma))
        let rows = PlainImage(size) { x, y in
            var sums = [0.0, 0, 0, 0]
            for (column, weight) in across[x].enumerated() where weight != 0 {
                let offset = (y * size.width + column) * 4
                for channel in 0..<4 { sums[channel] += values[offset + channel] * weight }
            }
            return sums
        }
        return PlainImage(size) { x, y in
            var sums = [0.0, 0, 0, 0]
            for (row, weight) in down[y].enumerated() where weight != 0 {
                let offset = (row * size.width + x) * 4
                for channel in 0..<4 { sums[channel] += rows.values[offset + channel] * weight }
            }
            return sums
        }
    }

    /// For each pixel of a row how much each of them counts; together 1.
    private static func weights(_ count: Int, _ sigma: Double) -> [[Double]] {
        let reach = Int((6 * sigma).rounded(.up))
        let kernel = (-reach...reach).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = kernel.reduce(0, +)
        return (0..<count).map { middle in
            var weights = [Double](repeating: 0, count: count)
            for (index, value) in kernel.enumerated() {
                weights[min(max(middle + index - reach, 0), count - 1)] += value / sum
            }
            return weights
        }
    }
}

extension PlainImage {
    /// Turned clockwise about its middle, sampled bilinearly; beyond its edges the image is transparent.
    func turned(degrees: Double, to result: PixelSize) -> PlainImage {
        let (sine, cosine) = (sin(degrees * .pi / 180), cos(degrees * .pi / 180))
        return PlainImage(result) { x, y in
            // From the middle of both; down is positive, so that clockwise is the angle's direction.
            let across = Double(x) + 0.5 - Double(result.width) / 2
            let down = Double(y) + 0.5 - Double(result.height) / 2
            return sample(
                cosine * across + sine * down + Double(size.width) / 2 - 0.5,
                cosine * down - sine * across + Double(size.height) / 2 - 0.5)
        }
    }

    private func sample(_ x: Double, _ y: Double) -> [Double] {
        let (left, top) = (Int(x.rounded(.down)), Int(y.rounded(.down)))
        var sums = [0.0, 0, 0, 0]
        for (row, column) in [(top, left), (top, left + 1), (top + 1, left), (top + 1, left + 1)] {
            guard row >= 0, column >= 0, row < size.height, column < size.width else { continue }
            let weight = (1 - abs(x - Double(column))) * (1 - abs(y - Double(row)))
            for (channel, value) in self[column, row].enumerated() { sums[channel] += value * weight }
        }
        return sums
    }
}

extension Color {
    /// A pixel of this colour.
    var plain: [Double] { [blue * alpha, green * alpha, red * alpha, alpha].map { $0 * 255 } }
}

/// Expects every channel to be what the reference rounds to, within a tolerance.
func expect(
    _ image: Image, _ plain: PlainImage, within tolerance: Double, at place: SourceLocation = #_sourceLocation
) throws {
    try #require(image.size == plain.size, sourceLocation: place)
    var worst = (difference: 0.0, index: 0)
    for (index, byte) in image.bytes.enumerated() {
        let difference = abs(Double(byte) - plain.values[index].rounded())
        if difference > worst.difference { worst = (difference, index) }
    }
    let pixel = worst.index / 4
    #expect(
        worst.difference <= tolerance, "channel \(worst.index % 4) at \(pixel % image.width),\(pixel / image.width)",
        sourceLocation: place)
}

/// How near an image is to a reference, in dB.
func psnr(_ image: Image, _ plain: PlainImage) -> Double {
    let bytes = image.bytes
    let errors = zip(bytes, plain.values).reduce(0.0) { $0 + (Double($1.0) - $1.1) * (Double($1.0) - $1.1) }
    return 10 * log10(255 * 255 * Double(bytes.count) / errors)
}

/// Expects a bitmap to be one: no colour exceeds its alpha, and it is called opaque only where it is.
func expectSound(_ image: Image, _ name: String, at place: SourceLocation = #_sourceLocation) {
    let bytes = image.bytes
    var (isPremultiplied, isOpaque) = (true, true)
    for start in stride(from: 0, to: bytes.count, by: 4) {
        let alpha = bytes[start + 3]
        if alpha == 255 { continue }
        isOpaque = false
        if bytes[start] > alpha || bytes[start + 1] > alpha || bytes[start + 2] > alpha { isPremultiplied = false }
    }
    #expect(isPremultiplied, "\(name)", sourceLocation: place)
    #expect(isOpaque || !image.bitmap.isOpaque, "\(name) is not opaque", sourceLocation: place)
}
