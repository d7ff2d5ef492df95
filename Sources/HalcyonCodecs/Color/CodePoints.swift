/// The code points of ITU-T H.273, by which AVIF, HEIC and PNG (`cICP`) identify primaries and transfer curve.
enum CodePoints {
    /// Returns the profile of the code points; nil if they are sRGB, unknown or unspecified.
    static func profile(primaries: Int, transfer: Int) -> ColorProfile? {
        guard let curve = curve(transfer) else { return nil }
        let known: ColorPrimaries? =
            switch primaries {
            case 9: .bt2020
            case 12: .displayP3
            // Unspecified and unknown primaries are treated as those of sRGB.
            default: nil
            }
        if known == nil, curve == .sRGB { return nil }
        return .primaries(known ?? .bt709, curve)
    }

    /// Whether both code points are supported. If they are not, the file's other colour information applies.
    static func areKnown(primaries: Int, transfer: Int) -> Bool {
        [1, 9, 12].contains(primaries) && [1, 4, 5, 6, 8, 13, 14, 15, 16, 18].contains(transfer)
    }

    private static func curve(_ transfer: Int) -> TransferCurve? {
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
