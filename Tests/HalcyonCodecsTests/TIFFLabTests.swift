import Foundation
import HalcyonCodecs
import HalcyonImage
import Testing

/// CIELab pixels of a TIFF, compared with the formulas of the CIE: their white is D50, that of the screen is D65.
@Suite struct TIFFLabTests {
    private let registry = CoderRegistry.standard()

    /// As they are stored: the lightness in 255ths or 65,535ths, a and b in whole numbers or 256ths.
    private struct Lab: Sendable {
        let lightness: Double
        let a: Double
        let b: Double

        init(_ lightness: Double, _ a: Double, _ b: Double) { (self.lightness, self.a, self.b) = (lightness, a, b) }
    }

    /// White, black and greys; then red, green, blue, yellow and skin inside of sRGB.
    private static let colors = [
        Lab(100, 0, 0), Lab(0, 0, 0), Lab(53.4, 0, 0), Lab(20, 0, 0), Lab(3, 0, 0), Lab(54, 72, 55), Lab(85, -70, 65),
        Lab(35, 45, -85), Lab(92, -12, 80), Lab(70, 18, 22), Lab(60, -30, -20),
    ]

    /// The stored numbers of a pixel, and the colour that they are.
    private func stored(_ color: Lab, bits: Int) -> (numbers: [Int], color: Lab) {
        let (top, unit) = bits == 8 ? (255.0, 1.0) : (65_535.0, 256.0)
        let numbers = [color.lightness / 100 * top, color.a * unit, color.b * unit].map { Int($0.rounded()) }
        return (numbers, Lab(Double(numbers[0]) * 100 / top, Double(numbers[1]) / unit, Double(numbers[2]) / unit))
    }

    /// One row of pixels in one strip behind the directory.
    private func file(_ numbers: [Int], bits: Int) -> Data {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        let entries = [
            (256, 4, 1, numbers.count / 3), (257, 4, 1, 1), (258, 3, 3, 122), (259, 3, 1, 1), (262, 3, 1, 8),
            (273, 4, 1, 128), (277, 3, 1, 3), (278, 4, 1, 1), (279, 4, 1, numbers.count * bits / 8),
        ]
        var bytes = little(0x2A_4949, 4) + little(8, 4) + little(entries.count, 2)
        for entry in entries {
            bytes += little(entry.0, 2) + little(entry.1, 2) + little(entry.2, 4) + little(entry.3, 4)
        }
        bytes += little(0, 4)
        for _ in 0..<3 { bytes += little(bits, 2) }
        for number in numbers { bytes += little(number, bits / 8) }
        return Data(bytes)
    }

    /// Red, green and blue, 0 to 255.
    private func screen(_ color: Lab) -> [Double] {
        let middle = (color.lightness + 16) / 116
        let white = [0.96422, 1, 0.82521]
        let tristimulus = [middle + color.a / 500, middle, middle - color.b / 200].enumerated().map { index, value in
            let knee = 6.0 / 29
            let linear = 3 * knee * knee * (value - 4.0 / 29)
            return white[index] * (value > knee ? value * value * value : linear)
        }
        func apply(_ matrix: [[Double]], _ values: [Double]) -> [Double] {
            matrix.map { row in zip(row, values).reduce(0) { $0 + $1.0 * $1.1 } }
        }
        // Bradford's adaptation from D50 to D65, and the primaries of sRGB.
        let adapted = apply(
            [
                [0.9555766, -0.0230393, 0.0631636], [-0.0282895, 1.0099416, 0.0210077],
                [0.0122982, -0.0204830, 1.3299098],
            ], tristimulus)
        let light = apply(
            [
                [3.2404542, -1.5371385, -0.4985314], [-0.9692660, 1.8760108, 0.0415560],
                [0.0556434, -0.2040259, 1.0572252],
            ], adapted)
        return light.map { value in
            let value = min(max(value, 0), 1)
            return 255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * pow(value, 1 / 2.4) - 0.055)
        }
    }

    @Test(arguments: [8, 16]) func labIsShownAsTheCIEDefinesIt(bits: Int) throws {
        let pixels = Self.colors.map { stored($0, bits: bits) }
        let image = try registry.decode(file(pixels.flatMap { $0.numbers }, bits: bits))
        #expect(image.size == PixelSize(pixels.count, 1))
        #expect(image.bitmap.isOpaque && image.info.bitsPerChannel == bits)
        for (index, pixel) in pixels.enumerated() {
            let shown = try #require(image.bitmap.pixel(x: index, y: 0))
            let difference = zip([shown.red, shown.green, shown.blue], screen(pixel.color)).map { abs(Double($0) - $1) }
            #expect(difference.allSatisfy { $0 <= 2 }, "\(pixel.color) is shown as \(shown), \(screen(pixel.color))")
        }
    }
}
