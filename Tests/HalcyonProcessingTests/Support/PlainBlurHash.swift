import Foundation
import HalcyonImage

/// BlurHash as its description defines it, in double precision: for each pixel a sum over every wave, for each wave a sum
/// over every pixel.
enum PlainBlurHash {
    static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~")

    /// Every pixel of the image of a valid text, row by row.
    static func pixels(_ text: String, _ size: PixelSize, punch: Double = 1) -> [Pixel] {
        let digits = text.map { alphabet.firstIndex(of: $0) ?? 0 }
        let countX = digits[0] % 9 + 1
        let maximum = Double(digits[1] + 1) / 166 * punch
        let average = digits[2..<6].reduce(0) { $0 * 83 + $1 }
        var components = [[average >> 16, average >> 8 & 255, average & 255].map { light($0) }]
        let amounts = steps(text).map { step in
            let part = Double(step - 9) / 9
            return (part < 0 ? -part * part : part * part) * maximum
        }
        components += stride(from: 0, to: amounts.count, by: 3).map { Array(amounts[$0..<$0 + 3]) }
        var pixels: [Pixel] = []
        for y in 0..<size.height {
            for x in 0..<size.width {
                var sums = [0.0, 0, 0]
                for (index, component) in components.enumerated() {
                    let wave = wave(index, countX, x, y, size)
                    for channel in 0..<3 { sums[channel] += component[channel] * wave }
                }
                pixels.append([byte(sums[2]), byte(sums[1]), byte(sums[0]), 255])
            }
        }
        return pixels
    }

    /// Returns the steps of red, green and blue, 0 to 18, of every wave of a valid text.
    static func steps(_ text: String) -> [Int] {
        let digits = text.dropFirst(6).map { alphabet.firstIndex(of: $0) ?? 0 }
        return stride(from: 0, to: digits.count, by: 2).flatMap { index in
            let value = digits[index] * 83 + digits[index + 1]
            return [value / 361, value / 19 % 19, value % 19]
        }
    }

    /// The text of an opaque image.
    static func text(_ image: Image, _ countX: Int, _ countY: Int) -> String {
        let area = Double(image.width * image.height)
        let components = (0..<countX * countY).map { index in
            var sums = [0.0, 0, 0]
            for y in 0..<image.height {
                for x in 0..<image.width {
                    let (pixel, wave) = (image[x, y], wave(index, countX, x, y, image.size))
                    for channel in 0..<3 { sums[channel] += light(Int(pixel[2 - channel])) * wave }
                }
            }
            return sums.map { $0 * (index == 0 ? 1 : 2) / area }
        }
        let strongest = components.dropFirst().joined().map(abs).max() ?? 0
        let strength = max(0, min(82, Int((strongest * 166 - 0.5).rounded(.down))))
        let maximum = Double(strength + 1) / 166
        let average = components[0].reduce(0) { $0 << 8 + Int(byte($1)) }
        var text = digits(countX - 1 + (countY - 1) * 9, 1) + digits(strength, 1) + digits(average, 4)
        for component in components.dropFirst() {
            let value = component.reduce(0) { sum, amount in
                let root = (abs(amount) / maximum).squareRoot() * (amount < 0 ? -1 : 1)
                return sum * 19 + max(0, min(18, Int((root * 9 + 9.5).rounded(.down))))
            }
            text += digits(value, 2)
        }
        return text
    }

    private static func wave(_ index: Int, _ countX: Int, _ x: Int, _ y: Int, _ size: PixelSize) -> Double {
        cos(.pi * Double(index % countX * x) / Double(size.width))
            * cos(.pi * Double(index / countX * y) / Double(size.height))
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        count == 0 ? "" : digits(number / 83, count - 1) + String(alphabet[number % 83])
    }

    private static func light(_ byte: Int) -> Double {
        let value = Double(byte) / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    private static func byte(_ light: Double) -> UInt8 {
        let light = max(0, min(1, light))
        let value = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
        return UInt8(value * 255 + 0.5)
    }
}
