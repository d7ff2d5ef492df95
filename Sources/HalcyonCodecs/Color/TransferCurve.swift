import Foundation

/// The curve that maps a channel's stored value, 0 to 1, to linear light, 0 to 1.
public enum TransferCurve: Hashable, Sendable {
    /// The curve of IEC 61966-2-1.
    case sRGB
    /// The curve value ^ gamma; a gamma of 1 is linear.
    case gamma(Double)
    /// The PQ curve of SMPTE ST 2084. White is at 203 cd/m2 (ITU-R BT.2408); brighter values are clipped there.
    case pq
    /// The HLG curve of ITU-R BT.2100. White is at 75 % of the signal (ITU-R BT.2408); brighter values are clipped
    /// there.
    case hlg

    /// The curve at 4096 equal steps from 0 to 1, enough that 8 bits show no banding, even where PQ is steep.
    var samples: [Float] {
        let count = 4096
        return (0..<count).map { Float(min(1, max(0, linear(Double($0) / Double(count - 1))))) }
    }

    private func linear(_ value: Double) -> Double {
        switch self {
        case .sRGB: value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        case .gamma(let gamma): pow(value, gamma)
        case .pq: Self.pq(value) * 10_000 / 203
        case .hlg: Self.hlg(value) / Self.hlg(0.75)
        }
    }

    private static func pq(_ value: Double) -> Double {
        let (m1, m2) = (2610.0 / 16384, 2523.0 / 4096 * 128)
        let (c1, c2, c3) = (3424.0 / 4096, 2413.0 / 4096 * 32, 2392.0 / 4096 * 32)
        let power = pow(value, 1 / m2)
        return pow(max(power - c1, 0) / (c2 - c3 * power), 1 / m1)
    }

    /// Returns scene light; the display gamma is left out.
    private static func hlg(_ value: Double) -> Double {
        let (a, b, c) = (0.17883277, 0.28466892, 0.55991073)
        return value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12
    }
}
