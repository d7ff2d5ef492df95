/// What a decode does with colours that are not sRGB.
public enum ColorHandling: String, Hashable, Sendable {
    /// Converts them by the profile that the file embeds or names.
    case sRGB
    /// Leaves the numbers as they are stored; ink is converted all the same.
    case asStored
}
