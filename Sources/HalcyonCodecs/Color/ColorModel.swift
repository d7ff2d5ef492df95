/// The colour model of a pixel's channels.
public enum ColorModel: Hashable, Sendable {
    case rgb, gray, cmyk
}
