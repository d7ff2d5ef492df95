/// The way an image is fitted to a box with another aspect ratio.
public enum ResizeMode: String, Sendable, Hashable, CaseIterable {
    /// The whole image inside the box, with its own aspect ratio.
    case fit
    /// Covers the box and is cropped to it, centred.
    case fill
    /// Exactly the size of the box, with any change of the aspect ratio.
    case stretch
}
