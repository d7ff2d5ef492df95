import Foundation
import HalcyonImage

/// How a file says what its colours are, where they are not plain sRGB.
public enum ColorProfile: Hashable, Sendable {
    /// An embedded ICC profile, for pixels of this model. One that is broken, or made for other pixels, is passed over.
    case icc(Data, ColorModel)
    /// What primaries and a curve say.
    case primaries(ColorPrimaries, TransferCurve)
}
