import Foundation

/// The error of `ImagePipeline.bootstrap`.
public enum SharedPipelineError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The shared pipeline was used, set or configured before.
    case inUse

    public var description: String {
        switch self {
        case .inUse: "the shared pipeline is in use: call ImagePipeline.bootstrap once, before the first use"
        }
    }
}

extension SharedPipelineError: LocalizedError {
    public var errorDescription: String? { description }
}
