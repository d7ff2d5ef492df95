/// Why an image is not stored.
public enum ImageCacheError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It was made before all of its file was there.
    case preview

    public var description: String {
        switch self {
        case .preview: "a preview is no image to keep"
        }
    }
}
