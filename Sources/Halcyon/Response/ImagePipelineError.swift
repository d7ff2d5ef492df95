import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonProcessing

/// The reason why a load failed. Each case names the source, never with its query.
///
/// A load that was cancelled ends in `CancellationError` only.
public enum ImagePipelineError: Error, Sendable, CustomStringConvertible {
    /// The request does not name a source that could be loaded.
    case invalidRequest(source: String, reason: String)
    /// A file or a `data:` URL that cannot be read, or a provider that failed.
    case badSource(source: String, reason: String)
    /// The transfer failed.
    case download(source: String, DownloadError)
    /// The bytes arrived and are not an image that can be decoded.
    case decoding(source: String, CodecError)
    /// A processor failed.
    case processing(source: String, reason: String)
    /// An `ImageInterceptor` refused the load or failed.
    case intercepted(source: String, reason: String)
    /// The image was loaded and cannot be encoded in the requested format.
    case encoding(source: String, CodecError)
    /// The request allowed only the caches, and they do not have the image.
    case notInCache(source: String)
    /// The source and all of its alternatives failed: the errors of those that were tried, in order.
    case allSourcesFailed(source: String, [ImagePipelineError])
    /// The load failed with this error a short while ago, and the source was not asked again; see
    /// `ImagePipeline.Configuration.remembersFailures`. Code, reason and source are those of the first failure.
    indirect case remembered(ImagePipelineError)

    /// The failure itself, whether it is remembered or new.
    public var failure: ImagePipelineError {
        if case .remembered(let error) = self { error.failure } else { self }
    }

    /// One word that scripts can compare: `badSource`, `httpStatus`, `damagedImage` and so on.
    public var code: String {
        switch self {
        case .invalidRequest: "invalidRequest"
        case .badSource: "badSource"
        case .download(_, let error): error.code
        case .decoding(_, let error): error.code
        case .processing: "processing"
        case .intercepted: "intercepted"
        case .encoding: "encoding"
        case .notInCache: "notInCache"
        case .allSourcesFailed: "allSourcesFailed"
        case .remembered(let error): error.code
        }
    }

    /// The reason for the failure, without the source.
    public var reason: String {
        switch self {
        case .invalidRequest(_, let reason), .badSource(_, let reason), .processing(_, let reason),
            .intercepted(_, let reason):
            reason
        case .download(_, let error): error.reasonText
        case .decoding(_, let error), .encoding(_, let error): "\(error)"
        case .notInCache: "not in the cache"
        case .remembered(let error): error.reason
        case .allSourcesFailed(_, let errors): errors.map(\.description).joined(separator: "; ")
        }
    }

    /// The name of the source of the failed request, without its query.
    public var source: String {
        switch self {
        case .invalidRequest(let source, _), .badSource(let source, _), .download(let source, _),
            .decoding(let source, _), .processing(let source, _), .intercepted(let source, _),
            .encoding(let source, _),
            .notInCache(let source), .allSourcesFailed(let source, _):
            source
        case .remembered(let error): error.source
        }
    }

    public var description: String {
        if case .remembered = self { return "\(source): \(reason) (remembered)" }
        return "\(source): \(reason)"
    }

    /// Wraps an error from a stage together with its source; leaves cancellation and errors that are already wrapped as
    /// they are.
    static func wrapping(_ error: any Error, source: ImageSource) -> any Error {
        let name = source.description
        switch error {
        case is CancellationError, is ImagePipelineError: return error
        case let error as DownloadError: return ImagePipelineError.download(source: name, error)
        case let error as CodecError: return ImagePipelineError.decoding(source: name, error)
        // Any other error of a processor, including its own error types.
        default: return ImagePipelineError.processing(source: name, reason: "\(error)")
        }
    }
}
