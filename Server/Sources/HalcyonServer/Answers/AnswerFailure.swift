import Foundation
import Halcyon
import HalcyonNetwork
import Hummingbird
import ImageURLs

/// A failure as the client sees it: a status, one word for programs and one sentence.
struct AnswerFailure: Error, Hashable, Sendable {
    let status: Int
    let code: String
    let message: String
    /// The seconds after which a client may try again; nil if that is of no use.
    var retryAfter: Int?

    init(_ status: Int, _ code: String, _ message: String, retryAfter: Int? = nil) {
        (self.status, self.code, self.message, self.retryAfter) = (status, code, message, retryAfter)
    }

    /// - Parameter wait: the longest time that requests wait, after which another attempt makes sense.
    init(_ error: any Error, wait: Duration) {
        let retry = max(1, Int((wait / .seconds(1)).rounded(.up)))
        switch error {
        case let failure as AnswerFailure: self = failure
        case let error as ImageURLError: self.init(url: error)
        case is CostQueueRefusal: self.init(503, "busy", "too much is asked for at the moment", retryAfter: retry)
        case let error as SourceFolder.Failure: self.init(folder: error)
        case let error as Originals.Failure:
            let message = error == .changed ? "the source changes while it is read" : "no memory for the source"
            self.init(503, error == .changed ? "sourceChanged" : "busy", message, retryAfter: retry)
        case let error as ImagePipelineError: self.init(pipeline: error.failure, wait: wait)
        case let error as DownloadError: self.init(download: error)
        case let error as CodecError: self.init(codec: error)
        case is CancellationError: self.init(503, "cancelled", "the request was cancelled", retryAfter: 1)
        default: self.init(500, "internal", "the server failed")
        }
    }

    private init(url error: ImageURLError) {
        let code =
            switch error {
            case .tooLong: "tooLong"
            case .path: "notFound"
            case .signature: "signature"
            case .unsupported: "unsupported"
            case .forbidden: "forbidden"
            case .invalid: "invalid"
            case .tooManyOptions: "tooManyOptions"
            case .source: "source"
            }
        self.init(error.status, code, error.description)
    }

    private init(folder error: SourceFolder.Failure) {
        switch error {
        case .notFound: self.init(404, "sourceNotFound", "there is no such source")
        case .tooLarge: self.init(422, "tooLarge", "the source is too long")
        case .changed: self.init(503, "sourceChanged", "the source changes while it is read", retryAfter: 1)
        }
    }

    private init(pipeline error: ImagePipelineError, wait: Duration) {
        switch error {
        case .download(_, let error): self.init(download: error)
        case .decoding(_, let codec): self.init(codec: codec)
        case .encoding(_, let codec): self.init(422, codec.code, "\(codec)")
        case .processing(_, let underlying): self.init(422, error.code, "\(underlying)")
        case .badSource(_, _, let underlying?) where !(underlying is ImagePipelineError):
            if underlying is CodecError || underlying is DownloadError || underlying is SourceFolder.Failure
                || underlying is Originals.Failure || underlying is CostQueueRefusal
            {
                self.init(underlying, wait: wait)
            } else {
                self.init(502, error.code, "the source cannot be read")
            }
        case .badSource(_, _, let inner as ImagePipelineError): self.init(pipeline: inner.failure, wait: wait)
        case .badSource: self.init(422, "tooLarge", "the source cannot be read within the limits")
        case .allSourcesFailed(_, let errors):
            if let first = errors.first {
                self.init(pipeline: first.failure, wait: wait)
            } else {
                self.init(502, error.code, "the source failed")
            }
        case .invalidRequest: self.init(404, "sourceNotFound", "the source is no address")
        case .intercepted, .notInCache, .remembered: self.init(502, error.code, "the source failed")
        }
    }

    private init(download error: DownloadError) {
        if let refusal = error.underlying as? ImageURLError {
            self.init(url: refusal)
            return
        }
        switch error.reason {
        case .httpStatus(404), .httpStatus(410): self.init(404, "sourceNotFound", "the source does not exist")
        case .httpStatus(let status): self.init(502, error.code, "the source's server answered with \(status)")
        case .refusedAddress: self.init(403, error.code, "the source's address is not allowed")
        case .invalidURL, .invalidRequest: self.init(404, "sourceNotFound", "the source is no address")
        case .tooLarge: self.init(422, error.code, "the source is too long")
        case .contentType: self.init(422, "notAnImage", "the source is not an image")
        case .timeout: self.init(504, error.code, "the source is too slow")
        default: self.init(502, error.code, "the source cannot be loaded")
        }
    }

    private init(codec error: CodecError) {
        switch error {
        case .isolationUnavailable, .failed: self.init(500, error.code, "the server cannot decode")
        default: self.init(422, error.code, "\(error)")
        }
    }

    /// The answer, without a trace of the source.
    func response(_ id: RequestID) -> Response {
        var headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        let body = ErrorBody(code: code, message: message, requestId: id.description)
        let data = (try? JSONEncoder().encode(body)) ?? Data()
        return Response(
            status: .init(code: status), headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: data)))
    }

    private struct ErrorBody: Encodable {
        let code: String
        let message: String
        let requestId: String
    }
}
