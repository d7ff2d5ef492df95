/// The colour space that a file declares for its pixels. Decoded pixels are sRGB unless the decode left them as stored.
public enum ColorSpace: Hashable, Sendable, CustomStringConvertible {
    case sRGB
    case gray
    case cmyk
    /// An embedded ICC profile, with its description, or an empty string if it has none.
    case icc(String)

    public var description: String {
        switch self {
        case .sRGB: "sRGB"
        case .gray: "gray"
        case .cmyk: "cmyk"
        case .icc(let name): name.isEmpty ? "icc" : name
        }
    }
}
