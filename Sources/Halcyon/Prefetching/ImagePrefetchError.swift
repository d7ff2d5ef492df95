/// The reason why a prefetch failed although its load succeeded.
public enum ImagePrefetchError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The bytes were loaded, but the disk does not have them: the server forbids storing them, or they could not be written.
    /// The source is named without its query.
    case notKept(source: String)

    public var description: String {
        switch self {
        case .notKept(let source): "\(source): the disk cache does not keep it"
        }
    }
}
