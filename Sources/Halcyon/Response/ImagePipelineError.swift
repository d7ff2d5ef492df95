import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork
import HalcyonProcessing

/// Why a load has no image. Each case names the source, never with its query.
///
/// A load that was called off ends in `CancellationError` and in nothing else.
public enum ImagePipelineError: Error, Sendable, CustomStringConvertible {
    /// The request names nothing that could be loaded.
    case invalidRequest(source: String, reason: String)
    /// A file or a `data:` URL that cannot be read, or a provider that failed.
    case badSource(source: String, reason: String)
    /// The transfer failed.
    case download(source: String, DownloadError)
    /// The bytes came and are no image that can be decoded.
    case decoding(source: String, CodecError)
    /// A processor has no result.
    case processing(source: String, reason: String)
    /// The image is there and cannot be written in the format that was asked for.
    case encoding(source: String, CodecError)
    /// Only the caches were to be asked, and they do not have it.
    case notInCache(source: String)
    /// Neither the source nor any of its alternatives has an image: the error of each that was tried, in order.
    case allSourcesFailed(source: String, [ImagePipelineError])
    /// It failed like this a short while ago and was not asked for again; see
    /// `ImagePipeline.Configuration.remembersFailures`. Code, reason and source are the first failure's.
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
        case .encoding: "encoding"
        case .notInCache: "notInCache"
        case .allSourcesFailed: "allSourcesFailed"
        case .remembered(let error): error.code
        }
    }

    /// What was wrong, without the source.
    public var reason: String {
        switch self {
        case .invalidRequest(_, let reason), .badSource(_, let reason), .processing(_, let reason): reason
        case .download(_, let error): error.reasonText
        case .decoding(_, let error), .encoding(_, let error): "\(error)"
        case .notInCache: "not in the cache"
        case .remembered(let error): error.reason
        case .allSourcesFailed(_, let errors): errors.map(\.description).joined(separator: "; ")
        }
    }

    public var source: String {
        switch self {
        case .invalidRequest(let source, _), .badSource(let source, _), .download(let source, _),
            .decoding(let source, _), .processing(let source, _), .encoding(let source, _),
            .notInCache(let source), .allSourcesFailed(let source, _):
            source
        case .remembered(let error): error.source
        }
    }

    public var description: String {
        if case .remembered = self { return "\(source): \(reason) (remembered)" }
        return "\(source): \(reason)"
    }

    /// Gives an error from a stage its source; leaves cancellation and what is wrapped already as they are.
    static func wrapping(_ error: any Error, source: ImageSource) -> any Error {
        let name = source.description
        switch error {
        case is CancellationError, is ImagePipelineError: return error
        case let error as DownloadError: return ImagePipelineError.download(source: name, error)
        case let error as CodecError: return ImagePipelineError.decoding(source: name, error)
        // Whatever else a processor throws, its own error types included.
        default: return ImagePipelineError.processing(source: name, reason: "\(error)")
        }
    }
}
