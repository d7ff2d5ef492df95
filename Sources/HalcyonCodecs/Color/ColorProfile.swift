import Foundation
import HalcyonImage

/// How a file says what its colours are, where they are not plain sRGB.
public enum ColorProfile: Hashable, Sendable {
    /// An embedded ICC profile, for pixels of this model. One that is broken, or made for other pixels, is passed over.
    case icc(Data, ColorModel)
    /// What primaries and a curve say.
    case primaries(ColorPrimaries, TransferCurve)

    /// Bytes that reading the profile and making its conversion take at most, beside a constant: two copies of the profile,
    /// and eight times its length that lcms2 may hold.
    var workingBytes: Int {
        guard case .icc(let data, _) = self else { return 0 }
        return Self.workingBytes(length: data.count)
    }

    static func workingBytes(length: Int) -> Int { length * 10 }
}
