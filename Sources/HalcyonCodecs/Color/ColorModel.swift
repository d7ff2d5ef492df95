/// What the channels of a pixel are.
public enum ColorModel: Hashable, Sendable {
    case rgb, gray, cmyk
}
