import Foundation
import HalcyonImage

/// An error of decoding data or encoding an image.
public enum CodecError: Error, Sendable, CustomStringConvertible {
    /// The data is not an image. The text completes "the data is": `empty`, `an HTML page`.
    case notAnImage(String)
    /// The format is known, but no coder for it is built in or was added. The product is that of the package halcyon whose
    /// coder does it, if the program does not link that product; otherwise nil.
    case unsupportedFormat(ImageFormat, product: String? = nil)
    /// The format is read by a loader of gdk-pixbuf, of which the system has none for it, or one that a worker cannot open.
    case loaderMissing(ImageFormat)
    /// No format that can be written has this file extension. The formats are those that can be; the product as above.
    case unsupportedExtension(String, encodable: [ImageFormat], product: String? = nil)
    /// The file is broken or was cut off.
    case damaged(ImageFormat, reason: String)
    /// The image exceeds `DecodeLimits`, the whole `DecodeBudget` or what the format's reader supports. Thrown before
    /// memory for the pixels is allocated.
    case limitExceeded(String, value: Int, limit: Int)
    /// The image cannot be written in this format.
    case encodingFailed(ImageFormat, reason: String)
    /// The file was decoded by a worker (`DecodeIsolation`), which was stopped in the middle of it.
    case stopped(ImageFormat, DecodeStop)
    /// Isolation was asked for and cannot be had. The text says why.
    case isolationUnavailable(String)
    /// A coder failed in a pipeline with an error that is not one of these: a `BitmapError`, or one of a custom coder's own.
    case failed(ImageFormat, any Error)

    /// A stable name for logs and exit statuses.
    public var code: String {
        switch self {
        case .notAnImage: "notAnImage"
        case .unsupportedFormat, .loaderMissing, .unsupportedExtension: "unsupportedFormat"
        case .damaged: "damagedImage"
        case .limitExceeded: "limitExceeded"
        case .encodingFailed: "processing"
        case .failed: "coderFailed"
        case .stopped: "decoderStopped"
        case .isolationUnavailable: "isolationUnavailable"
        }
    }

    public var description: String {
        switch self {
        case .notAnImage(let what): "not an image: the data is \(what)"
        case .unsupportedFormat(let format, _): "no coder for \(format)" + (advice.map { ": \($0)" } ?? "")
        case .loaderMissing(let format): "no loader for \(format) is installed that a worker can open"
        case .unsupportedExtension(let text, let formats, _):
            "the file extension '\(text)' names no format that can be written: "
                + (formats.isEmpty ? "there is no encoder" : formats.map(\.name).joined(separator: ", "))
                + (advice.map { "; \($0)" } ?? "")
        case .damaged(let format, let reason): "damaged \(format): \(reason)"
        case .limitExceeded(let what, let value, let limit): "\(what): \(value) is more than the limit of \(limit)"
        case .encodingFailed(let format, let reason): "cannot encode \(format): \(reason)"
        case .failed(let format, let error): "the coder of \(format) failed: \(error)"
        case .stopped(let format, let stop): "the decoder of \(format) was stopped: \(stop)"
        case .isolationUnavailable(let reason): "isolated decoding is not possible: \(reason)"
        }
    }

    /// The way to another result, if the program can be built for one.
    private var advice: String? {
        switch self {
        case .unsupportedFormat(_, let product), .unsupportedExtension(_, _, let product):
            product.map { "link the product \($0) of the package halcyon" }
        default: nil
        }
    }
}

extension CodecError: LocalizedError {
    public var errorDescription: String? { description }

    /// A line about what the program can do; nil if there is nothing to say.
    public var recoverySuggestion: String? {
        switch self {
        case .unsupportedFormat(_, let product?), .unsupportedExtension(_, _, let product?):
            "Link the product \(product) of the package halcyon."
        case .unsupportedFormat: "Add a coder for the format to CoderRegistry."
        case .loaderMissing: "Install a loader of gdk-pixbuf for the format."
        case .unsupportedExtension: "Use another extension, or say the format."
        case .damaged: "Set DecodeOptions.allowsIncomplete to decode what there is of the file."
        case .limitExceeded: "Request a smaller size, or raise the limit for sources that are trusted."
        case .failed(_, let error): (error as? any LocalizedError)?.recoverySuggestion
        case .isolationUnavailable:
            "Install halcyon-decode-worker beside the program, or call DecodeWorker.runIfAsked() first in its main."
        case .notAnImage, .encodingFailed, .stopped: nil
        }
    }
}

/// Errors of a coder's own are compared by their type and their text.
extension CodecError: Hashable {
    public static func == (left: CodecError, right: CodecError) -> Bool { left.parts == right.parts }

    public func hash(into hasher: inout Hasher) { hasher.combine(parts) }

    private var parts: [AnyHashable] {
        switch self {
        case .notAnImage(let what): [0, what]
        case .unsupportedFormat(let format, let product): [1, format, product]
        case .unsupportedExtension(let text, let formats, let product): [2, text, formats, product]
        case .damaged(let format, let reason): [3, format, reason]
        case .limitExceeded(let what, let value, let limit): [4, what, value, limit]
        case .encodingFailed(let format, let reason): [5, format, reason]
        case .failed(let format, let error): [6, format, ObjectIdentifier(type(of: error)), "\(error)"]
        case .stopped(let format, let stop): [7, format, stop]
        case .isolationUnavailable(let reason): [8, reason]
        case .loaderMissing(let format): [9, format]
        }
    }
}

extension CodecError {
    /// Calls work on an image of a format.
    ///
    /// - Throws: `CodecError`, `.failed` for errors of other types; `CancellationError`.
    package static func reporting<Result>(
        _ format: @autoclosure () -> ImageFormat, _ work: () throws -> Result
    ) throws -> Result {
        do {
            return try work()
        } catch let error where !(error is CodecError) && !(error is CancellationError) {
            throw CodecError.failed(format(), error)
        }
    }

    /// The error for data of a known format that no decoder reads.
    package static func noDecoder(for format: ImageFormat) -> CodecError {
        .unsupportedFormat(format, product: FormatProduct.missing(toDecode: format))
    }

    /// The error for a format that no encoder writes.
    package static func noEncoder(for format: ImageFormat) -> CodecError {
        .unsupportedFormat(format, product: FormatProduct.missing(toEncode: format))
    }
}
