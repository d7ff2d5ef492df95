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

/// A matrix of three rows, from one set of colours to another.
struct ColorTransformMatrix {
    /// The nine numbers, row by row.
    private(set) var rows: [Double]

    private init(_ rows: [Double]) {
        self.rows = rows
    }

    /// The matrix from the light of some primaries to that of others. White becomes white, by the adaptation of Bradford.
    init(from source: ColorPrimaries, to target: ColorPrimaries) {
        guard source != target, let back = Self(toXYZ: target).inverse else {
            self.init([1, 0, 0, 0, 1, 0, 0, 0, 1])
            return
        }
        self = back.after(Self.adaptation(from: source.white, to: target.white)).after(Self(toXYZ: source))
    }

    /// The matrix from the light of primaries to CIE XYZ (SMPTE RP 177).
    private init(toXYZ primaries: ColorPrimaries) {
        let points = [primaries.red, primaries.green, primaries.blue].map(Self.xyz)
        let columns = Self((0..<9).map { points[$0 % 3][$0 / 3] })
        let gains = (columns.inverse ?? columns).applied(to: Self.xyz(primaries.white))
        self.init((0..<9).map { columns.rows[$0] * gains[$0 % 3] })
    }

    private static func xyz(_ point: ColorPrimaries.Point) -> [Double] {
        [point.x / point.y, 1, (1 - point.x - point.y) / point.y]
    }

    private static let bradford = Self([0.8951, 0.2664, -0.1614, -0.7502, 1.7135, 0.0367, 0.0389, -0.0685, 1.0296])

    private static func adaptation(from source: ColorPrimaries.Point, to target: ColorPrimaries.Point) -> Self {
        let (from, to) = (bradford.applied(to: xyz(source)), bradford.applied(to: xyz(target)))
        let gains = zip(from, to).map { $0 == 0 ? 1 : $1 / $0 }
        let scaled = Self((0..<9).map { bradford.rows[$0] * gains[$0 / 3] })
        return (bradford.inverse ?? bradford).after(scaled)
    }

    private var inverse: Self? {
        let m = rows
        func minor(_ a: Int, _ b: Int, _ c: Int, _ d: Int) -> Double { m[a] * m[d] - m[b] * m[c] }
        let upper = [minor(4, 5, 7, 8), minor(2, 1, 8, 7), minor(1, 2, 4, 5)]
        let middle = [minor(5, 3, 8, 6), minor(0, 2, 6, 8), minor(2, 0, 5, 3)]
        let lower = [minor(3, 4, 6, 7), minor(1, 0, 7, 6), minor(0, 1, 3, 4)]
        let determinant = m[0] * upper[0] + m[1] * middle[0] + m[2] * lower[0]
        return abs(determinant) > 1e-12 ? Self((upper + middle + lower).map { $0 / determinant }) : nil
    }

    /// The matrix that has the effect of another one followed by this one.
    private func after(_ first: Self) -> Self {
        let columns = (0..<3).map { column in applied(to: (0..<3).map { first.rows[$0 * 3 + column] }) }
        return Self((0..<9).map { columns[$0 % 3][$0 / 3] })
    }

    private func applied(to vector: [Double]) -> [Double] {
        (0..<3).map { rows[$0 * 3] * vector[0] + rows[$0 * 3 + 1] * vector[1] + rows[$0 * 3 + 2] * vector[2] }
    }
}
