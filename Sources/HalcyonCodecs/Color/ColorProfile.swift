import Foundation
import HalcyonImage

/// The description of a file's colours if they are not plain sRGB.
public enum ColorProfile: Hashable, Sendable {
    /// An embedded ICC profile for pixels of the given model. A profile that is broken, or made for another model, is
    /// ignored.
    case icc(Data, ColorModel)
    /// Colours described by primaries and a transfer curve. For PQ, `peak` is the light of the brightest pixel in cd/m2, up to which
    /// light is mapped to what sRGB shows: 1000 if it is nil or not above 0.
    case primaries(ColorPrimaries, TransferCurve, peak: Double? = nil)

    /// Creates the description by a profile for grey, or else for red, green and blue.
    init(embedded profile: Data) {
        self = .icc(profile, profile.read { $0.matches("GRAY", at: 16) } ? .gray : .rgb)
    }

    /// The maximum number of bytes that reading the profile and building its conversion take, beside a constant: two
    /// copies of the profile, and eight times its length that lcms2 may hold.
    package var workingBytes: Int {
        guard case .icc(let data, _) = self else { return 0 }
        return Self.workingBytes(length: data.count)
    }

    package static func workingBytes(length: Int) -> Int { length * 10 }

    /// The description by primaries and a curve that an ICC profile for red, green and blue names besides its own, if the curve is PQ or
    /// HLG; otherwise the profile itself.
    package var resolved: ColorProfile {
        guard case .icc(let data, .rgb) = self else { return self }
        return data.read { ICCProfile.codePoints(of: $0) } ?? self
    }

    /// Whether the colours are described as PQ or HLG, and not by an ICC profile.
    package var isHighDynamicRange: Bool {
        guard case .primaries(_, let curve, _) = self else { return false }
        return curve.isBT2100
    }

    /// The space that has all colours of PQ or HLG, with the same curve; nil for other curves and ICC profiles.
    var brightSpace: NamedColorSpace? {
        switch self {
        case .primaries(_, .pq, _): .bt2020PQ
        case .primaries(_, .hlg, _): .bt2020HLG
        case .primaries, .icc: nil
        }
    }
}

/// The colour model of a pixel's channels.
public enum ColorModel: Hashable, Sendable {
    /// Red, green and blue.
    case rgb
    /// Grey: one channel.
    case gray
    /// Cyan, magenta, yellow and black.
    case cmyk
}

/// The chromaticities of the white point and the three primaries in the CIE 1931 diagram. Primaries that enclose no
/// area are ignored.
public struct ColorPrimaries: Hashable, Sendable {
    /// A chromaticity, with each coordinate from 0 to 1.
    public struct Point: Hashable, Sendable {
        /// The x coordinate in the CIE 1931 diagram, from 0 to 1.
        public var x: Double
        /// The y coordinate in the CIE 1931 diagram, from 0 to 1.
        public var y: Double

        /// Creates a chromaticity from its coordinates.
        public init(_ x: Double, _ y: Double) {
            self.x = x
            self.y = y
        }
    }

    /// The chromaticity of the white point.
    public var white: Point
    /// The chromaticity of the red primary.
    public var red: Point
    /// The chromaticity of the green primary.
    public var green: Point
    /// The chromaticity of the blue primary.
    public var blue: Point

    /// Creates primaries from the white point and the three colours.
    public init(white: Point, red: Point, green: Point, blue: Point) {
        self.white = white
        self.red = red
        self.green = green
        self.blue = blue
    }

    private static let d65 = Point(0.3127, 0.3290)

    /// The primaries of ITU-R BT.709, which sRGB shares.
    public static let bt709 = ColorPrimaries(
        white: d65, red: Point(0.64, 0.33), green: Point(0.30, 0.60), blue: Point(0.15, 0.06))
    /// The primaries of ITU-R BT.2020.
    public static let bt2020 = ColorPrimaries(
        white: d65, red: Point(0.708, 0.292), green: Point(0.170, 0.797), blue: Point(0.131, 0.046))
    /// The primaries of SMPTE EG 432-1, known as Display P3.
    public static let displayP3 = ColorPrimaries(
        white: d65, red: Point(0.680, 0.320), green: Point(0.265, 0.690), blue: Point(0.150, 0.060))

    /// Whether lcms2 can build a profile from the primaries: they form a triangle, and no point has a y of zero.
    package var isUsable: Bool {
        let points = [white, red, green, blue]
        guard points.allSatisfy({ $0.x >= 0 && $0.x <= 1 && $0.y > 1e-4 && $0.y <= 1 }) else { return false }
        let area = (green.x - red.x) * (blue.y - red.y) - (blue.x - red.x) * (green.y - red.y)
        return abs(area) > 1e-3
    }
}

/// The curve that maps a channel's stored value, 0 to 1, to linear light, 0 to 1.
public enum TransferCurve: Hashable, Sendable {
    /// The curve of IEC 61966-2-1.
    case sRGB
    /// The curve value ^ gamma; a gamma of 1 is linear.
    case gamma(Double)
    /// The PQ curve of SMPTE ST 2084, whose white is at 203 cd/m2 (ITU-R BT.2408). Brighter light is mapped to what sRGB shows.
    case pq
    /// The HLG curve of ITU-R BT.2100, whose white is at 75 % of the signal (ITU-R BT.2408). Brighter light is mapped as well.
    case hlg

    /// Whether it is one of high dynamic range, PQ or HLG.
    package var isBT2100: Bool {
        switch self {
        case .pq, .hlg: true
        case .sRGB, .gamma: false
        }
    }

    /// The curve at 4096 equal steps from 0 to 1, enough that 8 bits show no banding; nil for PQ and HLG, whose conversion is no curve
    /// of each channel alone.
    package var samples: [Float]? {
        let linear: (Double) -> Double
        switch self {
        case .sRGB: linear = { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
        case .gamma(let gamma): linear = { pow($0, gamma) }
        case .pq, .hlg: return nil
        }
        let count = 4096
        return (0..<count).map { Float(min(1, max(0, linear(Double($0) / Double(count - 1))))) }
    }
}

/// The code points of ITU-T H.273, by which AVIF, HEIC and PNG (`cICP`) identify primaries and transfer curve.
package enum CodePoints {
    /// Returns the profile of the code points; nil if they are sRGB, unknown or unspecified.
    ///
    /// - Parameter peak: the light of the brightest pixel in cd/m2, if the file says it. It is asked for PQ alone.
    package static func profile(
        primaries: Int, transfer: Int, peak: @autoclosure () -> Double? = nil
    ) -> ColorProfile? {
        let curve = curve(transfer)
        let known: ColorPrimaries? =
            switch primaries {
            case 9: .bt2020
            case 12: .displayP3
            // Unspecified and unknown primaries are treated as those of sRGB.
            default: nil
            }
        if known == nil, curve == .sRGB { return nil }
        return .primaries(known ?? .bt709, curve, peak: curve == .pq ? peak() : nil)
    }

    /// Whether both code points are supported. If they are not, the file's other colour information applies.
    package static func areKnown(primaries: Int, transfer: Int) -> Bool {
        [1, 9, 12].contains(primaries) && [1, 4, 5, 6, 8, 13, 14, 15, 16, 18].contains(transfer)
    }

    private static func curve(_ transfer: Int) -> TransferCurve {
        switch transfer {
        case 4: .gamma(2.2)
        case 5: .gamma(2.8)
        case 8: .gamma(1)
        case 16: .pq
        case 18: .hlg
        // Video curves (1, 6, 14, 15) are treated as the curve of sRGB, as in browsers; so are unspecified ones.
        default: .sRGB
        }
    }
}

/// The treatment of colours that are not sRGB in a decode.
public enum ColorHandling: String, Hashable, Sendable {
    /// Converts colours to sRGB by the profile that the file embeds or names. Cost: about ten nanoseconds per pixel of
    /// the result.
    case sRGB
    /// Leaves pixels with an embedded ICC profile as they are stored, and exposes the profile in `Image.colorProfile`.
    /// CMYK, and colours that are described without an ICC profile, are converted nonetheless.
    case asStored
}
