import Foundation

/// Between sRGB's bytes and amounts of light from 0 to 1, by the curve of IEC 61966-2-1.
enum LinearLight {
    /// The light of each byte.
    static let ofByte: [Double] = (0...255).map { light(Double($0)) }

    /// The least light that is rounded to each byte, and one more that none reaches.
    static let thresholds: [Float] = (0...255).map { $0 == 0 ? 0 : Float(light(Double($0) - 0.5)) } + [.infinity]

    /// How many parts of the light `guesses` has a byte for. In darkness, where the curve is steepest, a part is 0.8
    /// bytes wide: from the byte of its beginning the right one is at most 1 away.
    static let parts: Float = 4096

    /// The byte of the least light of each part, and that of full light.
    static let guesses: [UInt8] = {
        var byte = 0
        return (0...Int(parts)).map { part in
            while thresholds[byte + 1] <= Float(part) / parts { byte += 1 }
            return UInt8(byte)
        }
    }()

    /// The nearest byte to an amount of light; what is outside 0...1 is taken for its end.
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
