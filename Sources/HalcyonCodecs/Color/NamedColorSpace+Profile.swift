import CHalcyonPixels
import HalcyonImage

extension NamedColorSpace {
    /// The primaries and the curve of the space.
    var description: (primaries: ColorPrimaries, curve: TransferCurve) {
        switch self {
        case .sRGB: (.bt709, .sRGB)
        case .displayP3: (.displayP3, .sRGB)
        case .bt2020PQ: (.bt2020, .pq)
        case .bt2020HLG: (.bt2020, .hlg)
        case .linearSRGB: (.bt709, .gamma(1))
        }
    }

    /// Whether it is one of PQ or HLG, which has light above white.
    package var isBright: Bool { description.curve.isBT2100 }

    /// The code points of ITU-T H.273 for the primaries and the curve.
    package var codePoints: (primaries: UInt8, transfer: UInt8) {
        switch self {
        case .sRGB: (1, 13)
        case .displayP3: (12, 13)
        case .bt2020PQ: (9, 16)
        case .bt2020HLG: (9, 18)
        case .linearSRGB: (1, 8)
        }
    }
}

extension ColorPrimaries {
    /// Whether no coordinate differs by a thousandth.
    func isNear(_ other: ColorPrimaries) -> Bool {
        let pairs = [(white, other.white), (red, other.red), (green, other.green), (blue, other.blue)]
        return pairs.allSatisfy { abs($0.x - $1.x) < 0.001 && abs($0.y - $1.y) < 0.001 }
    }
}

extension TransferCurve {
    var kernel: halcyon_transfer {
        switch self {
        case .sRGB: halcyon_transfer(curve: HALCYON_CURVE_SRGB, gamma: 0)
        case .gamma(1): halcyon_transfer(curve: HALCYON_CURVE_LINEAR, gamma: 1)
        // No other number is an exponent of a curve.
        case .gamma(let gamma): halcyon_transfer(curve: HALCYON_CURVE_GAMMA, gamma: gamma > 0.01 ? gamma : 1)
        case .pq: halcyon_transfer(curve: HALCYON_CURVE_PQ, gamma: 0)
        case .hlg: halcyon_transfer(curve: HALCYON_CURVE_HLG, gamma: 0)
        }
    }
}
