/// The reason why an image cannot be stored.
public enum ImageCacheError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The image is a preview, made before its whole file had arrived.
    case preview

    public var description: String {
        switch self {
        case .preview: "a preview is no image to keep"
        }
    }
}
