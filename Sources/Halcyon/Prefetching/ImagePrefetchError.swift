/// Why a prefetch failed although its load did not.
public enum ImagePrefetchError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The bytes came and the disk does not have them: the server forbids to keep them, or they could not be written.
    /// The source is named without its query.
    case notKept(source: String)

    public var description: String {
        switch self {
        case .notKept(let source): "\(source): the disk cache does not keep it"
        }
    }
}
