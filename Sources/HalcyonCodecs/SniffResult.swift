import HalcyonImage

/// The kind of data by its first bytes.
public enum SniffResult: Hashable, Sendable {
    /// A known image format, whether or not there is a coder for it.
    case image(ImageFormat)
    /// Another kind of data. The text completes "the data is": `empty`, `an HTML page`.
    case other(String)
}
