import CHalcyonCodecs
import Foundation

/// The conversion of the signals of ITU-R BT.2100, PQ and HLG, to sRGB: highlights keep their detail, and darker colours are what they
/// were.
///
/// The light of the display comes from the EOTF of PQ, or from HLG by its inverse OETF and its OOTF on a display of 1000 cd/m2. It is
/// mapped by the EETF of ITU-R BT.2408, annex 5 (the one of BT.2390), from the peak of the source to 203 cd/m2, the white of SDR in
/// BT.2408, with a black of 0. The largest of red, green and blue decides about the scale of all three (`maxRGB`), so that hues stay.
/// Then the primaries are those of sRGB: negative values are clipped, and a colour that is too bright is scaled as a whole.
struct ToneMapping {
    /// The white of SDR in HDR, in cd/m2 (ITU-R BT.2408).
    static let white = 203.0
    /// The peak of the nominal display of HLG in cd/m2, where a signal of 75 % is `white`; and that of PQ if a file says nothing,
    /// since it is the one that BT.2408 refers to and that most pictures are graded for.
    static let nominalPeak = 1_000.0

    private let primaries: ColorPrimaries
    private let isScene: Bool
    private let peak: Double

    /// - Parameters:
    ///   - curve: PQ or HLG.
    ///   - peak: the light of the brightest pixel of PQ in cd/m2; nil, or not above 0, if it is not known.
    init(_ primaries: ColorPrimaries, _ curve: TransferCurve, peak: Double?) {
        self.primaries = primaries
        isScene = curve == .hlg
        if let peak, peak > 0, !isScene {
            self.peak = min(peak, PQ.peak)
        } else {
            self.peak = Self.nominalPeak
        }
    }

    /// Creates the conversion; nil if the primaries have none. Cost: a tenth of a millisecond.
    func makeColor(isShort: inout Bool) -> OpaquePointer? {
        guard let matrix = primaries.matrix(to: .bt709) else { return nil }
        let luminance = primaries.xyz.rows[1].map { Float($0) }
        // PQ reaches 49 times white; no peak makes darker light than a sixteenth of white change.
        let scale = Octaves(-4..<6) { mapped($0 * Self.white) / ($0 * Self.white) }
        let light = isScene ? Self.lightOfHLG : Self.lightOfPQ
        return light.withUnsafeBufferPointer { light in
            Self.display.withC { display in
                scale.withC { scale in
                    Self.sRGB.withC { encoded in
                        var curves = halcyon_tone_curves()
                        curves.light = light.baseAddress
                        if isScene { curves.display = display }
                        curves.luminance = (luminance[0], luminance[1], luminance[2])
                        curves.scale = scale
                        let m = matrix.rows.joined().map { Float($0) }
                        curves.matrix = (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8])
                        curves.encoded = encoded
                        return halcyon_color_create_tone(&curves, &isShort)
                    }
                }
            }
        }
    }

    /// The EETF: returns the light in cd/m2 that light in cd/m2 is mapped to.
    private func mapped(_ light: Double) -> Double {
        let (source, target) = (PQ.signal(max(peak, Self.white)), PQ.signal(Self.white))
        let (value, top) = (min(1, PQ.signal(light) / source), target / source)
        let knee = 1.5 * top - 0.5
        guard value > knee, knee < 1 else { return PQ.light(value * source) }
        let t = (value - knee) / (1 - knee)
        let (square, cube) = (t * t, t * t * t)
        let spline =
            (2 * cube - 3 * square + 1) * knee + (cube - 2 * square + t) * (1 - knee) + (3 * square - 2 * cube) * top
        return PQ.light(spline * source)
    }

    /// The light of the display where 1 is white, as C takes it.
    private static let lightOfPQ = lights { PQ.light($0) / white }
    /// The light of the scene.
    private static let lightOfHLG = lights(HLG.scene)
    /// The OOTF: the factor by the luminance of the scene.
    private static let display = Octaves(-24..<0) { pow($0, HLG.gamma - 1) * nominalPeak / white }

    private static func lights(_ light: (Double) -> Double) -> [Float] {
        (0..<HALCYON_TONE_LIGHTS).map { Float(light(Double($0 * 16) / 65_535)) }
    }

    /// The levels of sRGB (IEC 61966-2-1). Below the octaves, they round to 0.
    private static let sRGB = Octaves(-13..<0) { light in
        255 * (light <= 0.003_130_8 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055)
    }
}

/// The signal of SMPTE ST 2084.
private enum PQ {
    /// The light of the highest signal in cd/m2.
    static let peak = 10_000.0
    private static let (m1, m2) = (2610.0 / 16384, 2523.0 / 4096 * 128)
    private static let (c1, c2, c3) = (3424.0 / 4096, 2413.0 / 4096 * 32, 2392.0 / 4096 * 32)

    /// The EOTF: returns light in cd/m2.
    static func light(_ signal: Double) -> Double {
        let power = pow(signal, 1 / m2)
        return pow(max(power - c1, 0) / (c2 - c3 * power), 1 / m1) * peak
    }

    /// Returns the signal of light in cd/m2.
    static func signal(_ light: Double) -> Double {
        let power = pow(light / peak, m1)
        return pow((c1 + c2 * power) / (1 + c3 * power), m2)
    }
}

/// The signal of ITU-R BT.2100 HLG.
private enum HLG {
    /// The exponent of the OOTF on the nominal display.
    static let gamma = 1.2

    /// The inverse OETF: returns the light of the scene, 0 to 1.
    static func scene(_ signal: Double) -> Double {
        let a = 0.178_832_77
        let (b, c) = (1 - 4 * a, 0.5 - a * log(4 * a))
        return signal <= 0.5 ? signal * signal / 3 : (exp((signal - c) / a) + b) / 12
    }
}

/// A function at 32 equal steps of each octave, as C takes it.
private struct Octaves {
    private let octaves: Range<Int>
    private let values: [Float]

    /// - Parameter octaves: the binary logarithms of the ends.
    init(_ octaves: Range<Int>, _ function: (Double) -> Double) {
        self.octaves = octaves
        let steps = HALCYON_TONE_STEPS
        values = (0...octaves.count * steps).map { index in
            let part = 1 + Double(index % steps) / Double(steps)
            return Float(function(scalbn(part, octaves.lowerBound + index / steps)))
        }
    }

    func withC<Result>(_ body: (halcyon_tone_octaves) -> Result) -> Result {
        values.withUnsafeBufferPointer { values in
            body(
                halcyon_tone_octaves(
                    values: values.baseAddress, lowest: Int32(octaves.lowerBound), highest: Int32(octaves.upperBound)))
        }
    }
}
