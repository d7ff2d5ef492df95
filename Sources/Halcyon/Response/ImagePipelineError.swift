import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonNetwork

/// The reason why a load failed. Each case names the source, never with its query.
///
/// An error that the program's own code threw (a provider, an interceptor, a processor, a hook, a coder) is in `underlying`, as it
/// was thrown:
///
///     } catch let error as ImagePipelineError where error.underlying is ShelfIsEmpty {
///
/// A load that was cancelled ends in `CancellationError` only. docs/Errors.md has all cases, and what to do about them.
public enum ImagePipelineError: Error, Sendable, CustomStringConvertible {
    /// The request does not name a source that could be loaded.
    case invalidRequest(source: String, reason: String)
    /// A file or a `data:` URL that cannot be read, or a provider that failed: then with the error that it threw.
    case badSource(source: String, reason: String, underlying: (any Error)? = nil)
    /// The transfer failed.
    case download(source: String, DownloadError)
    /// The bytes arrived and are not an image that can be decoded.
    case decoding(source: String, CodecError)
    /// A processor refused its parameters or failed, with this error.
    case processing(source: String, any Error)
    /// An `ImageInterceptor` refused the load or failed, with this error.
    case intercepted(source: String, any Error)
    /// The image was loaded and cannot be encoded in the requested format.
    case encoding(source: String, CodecError)
    /// The request allowed only the caches, and they do not have the image.
    case notInCache(source: String)
    /// The source and all of its alternatives failed: the errors of those that were tried, in order.
    case allSourcesFailed(source: String, [ImagePipelineError])
    /// The load failed with this error a short while ago, and the source was not asked again; see
    /// `ImagePipeline.Configuration.rememberedFailures`. Code, stage, reason and source are those of the first failure.
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
        case .invalidRequest(_, let reason), .badSource(_, let reason, _): reason
        case .download(_, let error): error.reasonText
        case .decoding(_, let error), .encoding(_, let error): "\(error)"
        case .processing(_, let error), .intercepted(_, let error): "\(error)"
        case .notInCache: "not in the cache"
        case .remembered(let error): error.reason
        case .allSourcesFailed(_, let errors): errors.map(\.description).joined(separator: "; ")
        }
    }

    /// The name of the source of the failed request, without its query.
    public var source: String {
        switch self {
        case .invalidRequest(let source, _), .badSource(let source, _, _), .download(let source, _),
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
}

// MARK: - What is behind it

extension ImagePipelineError {
    /// The error behind this one: as it was thrown, if the program's own code threw it (a provider, an interceptor, a processor, a
    /// hook, a coder), otherwise the `DownloadError`, `CodecError` or `ProcessingError` of the stage. Nil if there is none.
    ///
    /// If several sources failed, it is that of the request's own source.
    public var underlying: (any Error)? {
        switch self {
        case .invalidRequest, .notInCache: nil
        case .badSource(_, _, let error): error
        case .download(_, let error): error.underlying ?? error
        case .decoding(_, .failed(_, let own)), .encoding(_, .failed(_, let own)): own
        case .decoding(_, let error), .encoding(_, let error): error
        case .processing(_, let error), .intercepted(_, let error): error
        case .allSourcesFailed(_, let errors): errors.first?.underlying
        case .remembered(let error): error.underlying
        }
    }

    /// The part of a load that failed. Programs may log its `rawValue`, which stays as it is.
    public enum Stage: String, Hashable, Sendable, CaseIterable {
        /// The request itself, before anything was loaded.
        case request
        /// The reading of a file, a `data:` URL or a provider.
        case source
        /// The look-up in the caches, for a request that allows nothing else.
        case cache
        /// The transfer.
        case network
        /// The decoding of the bytes.
        case decoding
        /// The processors.
        case processing
        /// The encoding of the finished image.
        case encoding
        /// The interceptors around the load.
        case interceptor
    }

    /// The part of the load that failed; if several sources failed, the one of the request's own source.
    public var stage: Stage {
        switch self {
        case .invalidRequest: .request
        case .badSource: .source
        case .download: .network
        case .decoding: .decoding
        case .processing: .processing
        case .intercepted: .interceptor
        case .encoding: .encoding
        case .notInCache: .cache
        case .allSourcesFailed(_, let errors): errors.first?.stage ?? .source
        case .remembered(let error): error.stage
        }
    }
}

extension ImagePipelineError: LocalizedError {
    public var errorDescription: String? { description }

    /// A line about what the program or its user can do; nil if there is nothing to say. That of the underlying error counts.
    public var recoverySuggestion: String? {
        switch self {
        case .notInCache: "Load it with a cache policy that allows the network."
        case .allSourcesFailed(_, let errors): errors.lazy.compactMap(\.recoverySuggestion).first
        case .remembered(let error):
            error.recoverySuggestion
                ?? "Set NetworkOptions.retriesFailures to ask again before the failure is forgotten."
        default: (underlying as? any LocalizedError)?.recoverySuggestion
        }
    }
}

// MARK: - How it is made

extension ImagePipelineError {
    /// Wraps an error from a stage together with its source; leaves cancellation and errors that are already wrapped as
    /// they are.
    static func wrapping(_ error: any Error, source: ImageSource) -> any Error {
        let name = source.description
        switch error {
        case is CancellationError, is ImagePipelineError: return error
        case let error as DownloadError: return ImagePipelineError.download(source: name, error)
        case let error as CodecError: return ImagePipelineError.decoding(source: name, error)
        default: return ImagePipelineError.processing(source: name, error)
        }
    }

    /// Wraps an error of a processor, of whatever type it is.
    static func processor(_ error: any Error, source: ImageSource) -> any Error {
        if error is CancellationError || error is ImagePipelineError { return error }
        return ImagePipelineError.processing(source: source.description, error)
    }

    /// Wraps an error of an encoder.
    static func encoder(_ error: any Error, as format: ImageFormat, source: ImageSource) -> any Error {
        if error is CancellationError { return error }
        return ImagePipelineError.encoding(
            source: source.description, error as? CodecError ?? .failed(format, error))
    }
}
