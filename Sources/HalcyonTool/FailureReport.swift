import Halcyon

/// An error as the tool reports it.
struct FailureReport: Encodable, Sendable, Error, CustomStringConvertible {
    let code: String
    let message: String

    var description: String { "\(message) (\(code))" }

    init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    init(_ error: any Error) {
        switch error {
        case let error as ImagePipelineError: self.init(code: error.code, message: error.reason)
        case let error as CodecError: self.init(code: error.code, message: "\(error)")
        case let error as FailureReport: self = error
        case is CancellationError: self.init(code: "cancelled", message: "cancelled")
        default: self.init(code: "processing", message: "\(error)")
        }
    }
}
