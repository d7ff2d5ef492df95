/// The memory layout of a program's own pixels, 8 bits a channel and rows from top to bottom without padding.
public enum PixelLayout: Hashable, Sendable, CaseIterable {
    /// Blue, green, red, alpha, the colours premultiplied by alpha: the layout of `Bitmap`, which needs no conversion.
    case bgraPremultiplied
    /// Red, green, blue, alpha, the colours not premultiplied.
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
