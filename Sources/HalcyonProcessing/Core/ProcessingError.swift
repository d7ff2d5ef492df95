/// Why a processor has no result.
public enum ProcessingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A parameter that no image could be processed with, such as a width of zero.
    case invalidArgument(processor: String, reason: String)
    /// A parameter that does not suit this image, such as a crop beside it.
    case notApplicable(processor: String, reason: String)
    /// The system or a library refused.
    case failed(processor: String, reason: String)

    public var description: String {
        switch self {
        case .invalidArgument(let processor, let reason): "\(processor): \(reason)"
        case .notApplicable(let processor, let reason): "\(processor): \(reason)"
        case .failed(let processor, let reason): "\(processor) failed: \(reason)"
        }
    }
}
