/// What a decode does with colours that are not sRGB.
public enum ColorHandling: String, Hashable, Sendable {
    /// Converts them by the profile that the file embeds or names. Cost: about ten nanoseconds a pixel of the result.
    case sRGB
    /// Leaves the pixels that an embedded ICC profile describes as they are stored, and gives the profile in
    /// `Image.colorProfile`. Ink, and what is described without a profile, is converted all the same.
    case asStored
}
