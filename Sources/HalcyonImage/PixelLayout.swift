/// How a program's own pixels lie in memory, 8 bits a channel and rows from the top without padding.
public enum PixelLayout: Hashable, Sendable, CaseIterable {
    /// Blue, green, red, alpha, the colours multiplied by alpha: what `Bitmap` keeps, taken without a conversion.
    case bgraPremultiplied
    /// Red, green, blue, alpha, the colours not multiplied.
    case rgba
    case rgb
    case gray

    public var bytesPerPixel: Int {
        switch self {
        case .bgraPremultiplied, .rgba: 4
        case .rgb: 3
        case .gray: 1
        }
    }
}
