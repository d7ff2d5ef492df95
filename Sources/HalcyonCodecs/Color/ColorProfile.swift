import Foundation
import HalcyonImage

/// The description of a file's colours if they are not plain sRGB.
public enum ColorProfile: Hashable, Sendable {
    /// An embedded ICC profile for pixels of the given model. A profile that is broken, or made for another model, is
    /// ignored.
    case icc(Data, ColorModel)
    /// Colours described by primaries and a transfer curve.
    case primaries(ColorPrimaries, TransferCurve)

    /// The maximum number of bytes that reading the profile and building its conversion take, beside a constant: two
    /// copies of the profile, and eight times its length that lcms2 may hold.
    var workingBytes: Int {
        guard case .icc(let data, _) = self else { return 0 }
        return Self.workingBytes(length: data.count)
    }

    static func workingBytes(length: Int) -> Int { length * 10 }
}
