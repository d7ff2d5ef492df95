/// The colour space that a file declares for its pixels. Decoded pixels are sRGB unless they were to stay as stored.
public enum ColorSpace: Hashable, Sendable, CustomStringConvertible {
    case sRGB
    case gray
    case cmyk
    /// An embedded ICC profile, by its description where it has one.
    case icc(String)

    /// `sRGB`, `gray`, `cmyk`, or the profile's description.
    public var description: String {
        switch self {
        case .sRGB: "sRGB"
        case .gray: "gray"
        case .cmyk: "cmyk"
        case .icc(let name): name.isEmpty ? "icc" : name
        }
    }
}
