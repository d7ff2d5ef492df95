import Foundation

/// ITU-R BT.2100 and BT.2408 in numbers of 64 bits, straight from their formulas.
struct ToneReference {
    enum Curve: UInt8, CaseIterable {
        case pq = 16
        case hlg = 18
    }

    /// The primaries of ITU-T H.273.
    enum Primaries: UInt8, CaseIterable {
        case bt709 = 1
        case bt2020 = 9
        case p3 = 12

        /// To those of sRGB. BT.2020 is the inverse of ITU-R BT.2087, P3 that of CSS Color 4, both with all digits.
        var matrix: [[Double]] {
            switch self {
            case .bt709: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
            case .bt2020:
                [
                    [1.660491002108434, -0.587641138788549, -0.072849863319885],
                    [-0.124550474521591, 1.132899897125960, -0.008349422604369],
                    [-0.018150763354905, -0.100578898008007, 1.118729661362913],
                ]
            case .p3:
                [
                    [1.224940176280560, -0.224940176280560, 0],
                    [-0.042056954709688, 1.042056954709688, 0],
                    [-0.019637554590334, -0.078636045550632, 1.098273600140966],
                ]
            }
        }

        /// The luminance of red, green and blue.
        var luminance: [Double] {
            switch self {
            case .bt709: [0.2126, 0.7152, 0.0722]
            case .bt2020: [0.2627, 0.6780, 0.0593]
            case .p3: [0.22897, 0.69174, 0.07929]
            }
        }
    }

    var curve: Curve
    var primaries = Primaries.bt2020
    var peak = 1_000.0

    /// Returns the levels of sRGB, 0 to 255, of a signal's red, green and blue, 0 to 1.
    func levels(_ signal: [Double]) -> [Double] {
        var light = signal.map { curve == .pq ? Self.light(pq: $0) : Self.scene(hlg: $0) }
        if curve == .hlg {
            let luminance = zip(primaries.luminance, light).reduce(0) { $0 + $1.0 * $1.1 }
            light = light.map { 1_000 * pow(luminance, 0.2) * $0 }
        }
        let most = light.max() ?? 0
        let scale = most > 0 ? mapped(most) / most / 203 : 0
        var linear = primaries.matrix.map { row in max(0, zip(row, light).reduce(0) { $0 + $1.0 * $1.1 } * scale) }
        let brightest = max(1, linear.max() ?? 0)
        linear = linear.map { $0 / brightest }
        return linear.map { 255 * ($0 <= 0.0031308 ? 12.92 * $0 : 1.055 * pow($0, 1 / 2.4) - 0.055) }
    }

    /// BT.2408, annex 5: E1 to E4 with a minimum of 0.
    private func mapped(_ light: Double) -> Double {
        let (white, source) = (Self.signal(pq: 203), Self.signal(pq: max(203, peak)))
        let e1 = min(1, Self.signal(pq: light) / source)
        let maxLum = white / source
        let ks = 1.5 * maxLum - 0.5
        guard e1 >= ks, ks < 1 else { return Self.light(pq: e1 * source) }
        let t = (e1 - ks) / (1 - ks)
        let p =
            (2 * pow(t, 3) - 3 * pow(t, 2) + 1) * ks + (pow(t, 3) - 2 * pow(t, 2) + t) * (1 - ks)
            + (-2 * pow(t, 3) + 3 * pow(t, 2)) * maxLum
        return Self.light(pq: p * source)
    }

    private static let (m1, m2) = (0.1593017578125, 78.84375)
    private static let (c1, c2, c3) = (0.8359375, 18.8515625, 18.6875)

    static func light(pq signal: Double) -> Double {
        let power = pow(signal, 1 / m2)
        return 10_000 * pow(max(0, power - c1) / (c2 - c3 * power), 1 / m1)
    }

    static func signal(pq light: Double) -> Double {
        let power = pow(light / 10_000, m1)
        return pow((c1 + c2 * power) / (1 + c3 * power), m2)
    }

    static func scene(hlg signal: Double) -> Double {
        let (a, b, c) = (0.17883277, 0.28466892, 0.55991073)
        return signal <= 0.5 ? signal * signal / 3 : (exp((signal - c) / a) + b) / 12
    }
}
