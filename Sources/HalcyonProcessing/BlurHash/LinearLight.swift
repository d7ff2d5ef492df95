import Foundation

/// Conversions between sRGB bytes and amounts of light from 0 to 1, by the curve of IEC 61966-2-1.
enum LinearLight {
    /// The amount of light of each byte.
    static let ofByte: [Double] = (0...255).map { light(Double($0)) }

    /// The least amount of light that is rounded to each byte, and a final infinite sentinel.
    static let thresholds: [Float] = (0...255).map { $0 == 0 ? 0 : Float(light(Double($0) - 0.5)) } + [.infinity]

    /// The number of parts that `guesses` divides the light into. In darkness, where the curve is steepest, a part is
    /// 0.8 bytes wide: the right byte is at most 1 above the byte at the part's beginning.
    static let parts: Float = 4096

    /// The byte at the beginning of each part, and the byte of full light.
    static let guesses: [UInt8] = {
        var byte = 0
        return (0...Int(parts)).map { part in
            while thresholds[byte + 1] <= Float(part) / parts { byte += 1 }
            return UInt8(byte)
        }
    }()

    /// Returns the nearest byte to an amount of light, which is clamped to 0...1.
    static func byte(_ light: Double) -> Int {
        let light = min(max(light, 0), 1)
        let value = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
        return Int(value * 255 + 0.5)
    }

    private static func light(_ byte: Double) -> Double {
        let value = byte / 255
        return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }
}
