/// An error that a processor reports.
public enum ProcessingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A parameter that suits no image, such as a width of zero.
    case invalidArgument(processor: String, reason: String)
    /// A parameter that does not suit this image, such as a crop outside of it.
    case notApplicable(processor: String, reason: String)
    /// The system or a library failed.
    case failed(processor: String, reason: String)

    public var description: String {
        switch self {
        case .invalidArgument(let processor, let reason): "\(processor): \(reason)"
        case .notApplicable(let processor, let reason): "\(processor): \(reason)"
        case .failed(let processor, let reason): "\(processor) failed: \(reason)"
        }
    }
}
