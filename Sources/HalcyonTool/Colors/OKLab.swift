import Foundation
import Halcyon

/// A colour in OKLab, in which equal distances look about equally large: lightness, green to red, blue to yellow.
///
/// The formulas and constants are those of Björn Ottosson, "A perceptual color space for image processing", 2020; the curve of
/// sRGB is that of IEC 61966-2-1.
struct OKLab: Hashable, Sendable {
    var lightness: Double
    var a: Double
    var b: Double

    init(lightness: Double, a: Double, b: Double) {
        self.lightness = lightness
        self.a = a
        self.b = b
    }

    /// Converts the red, green and blue of a colour.
    init(_ color: Color) {
        let (red, green, blue) = (Self.light(color.red), Self.light(color.green), Self.light(color.blue))
        let long = cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
        let medium = cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
        let short = cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
        lightness = 0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short
        a = 1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short
        b = 0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short
    }

    /// The colour, opaque; channels outside of sRGB are clamped.
    var color: Color {
        func cube(_ value: Double) -> Double { value * value * value }
        let long = cube(lightness + 0.3963377774 * a + 0.2158037573 * b)
        let medium = cube(lightness - 0.1055613458 * a - 0.0638541728 * b)
        let short = cube(lightness - 0.0894841775 * a - 1.2914855480 * b)
        return Color(
            red: Self.channel(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
            green: Self.channel(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
            blue: Self.channel(-0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short))
    }

    /// The square of the distance. Below a distance of 0.02, two colours are hard to tell apart.
    func distance(squaredTo other: OKLab) -> Double {
        let (x, y, z) = (lightness - other.lightness, a - other.a, b - other.b)
        return x * x + y * y + z * z
    }

    private static func light(_ channel: Double) -> Double {
        channel <= 0.04045 ? channel / 12.92 : pow((channel + 0.055) / 1.055, 2.4)
    }

    private static func channel(_ light: Double) -> Double {
        let light = min(max(light, 0), 1)
        return light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
}
