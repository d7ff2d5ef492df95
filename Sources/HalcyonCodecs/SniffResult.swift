import HalcyonImage

/// What data looks like by its first bytes.
public enum SniffResult: Hashable, Sendable {
    /// A known image format, whether or not a coder for it is there.
    case image(ImageFormat)
    /// Something else, in words that complete "the data is": `empty`, `an HTML page`.
    case other(String)
}
