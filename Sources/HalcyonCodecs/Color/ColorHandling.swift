/// The treatment of colours that are not sRGB in a decode.
public enum ColorHandling: String, Hashable, Sendable {
    /// Converts colours to sRGB by the profile that the file embeds or names. Cost: about ten nanoseconds per pixel of
    /// the result.
    case sRGB
    /// Leaves pixels with an embedded ICC profile as they are stored, and exposes the profile in `Image.colorProfile`.
    /// CMYK, and colours that are described without an ICC profile, are converted nonetheless.
    case asStored
}
