import HalcyonImage

/// An error of decoding data or encoding an image.
public enum CodecError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The data is not an image. The text completes "the data is": `empty`, `an HTML page`.
    case notAnImage(String)
    /// The format is known, but no coder for it is built in or was added. The product is that of the package halcyon whose
    /// coder does it, if the program does not link that product; otherwise nil.
    case unsupportedFormat(ImageFormat, product: String? = nil)
    /// No format that can be written has this file extension. The formats are those that can be; the product as above.
    case unsupportedExtension(String, encodable: [ImageFormat], product: String? = nil)
    /// The file is broken or was cut off.
    case damaged(ImageFormat, reason: String)
    /// The image exceeds `DecodeLimits`, the whole `DecodeBudget` or what the format's reader supports. Thrown before
    /// memory for the pixels is allocated.
    case limitExceeded(String, value: Int, limit: Int)
    /// The image cannot be written in this format.
    case encodingFailed(ImageFormat, reason: String)

    /// A stable name for logs and exit statuses.
    public var code: String {
        switch self {
        case .notAnImage: "notAnImage"
        case .unsupportedFormat, .unsupportedExtension: "unsupportedFormat"
        case .damaged: "damagedImage"
        case .limitExceeded: "limitExceeded"
        case .encodingFailed: "processing"
        }
    }

    public var description: String {
        switch self {
        case .notAnImage(let what): "not an image: the data is \(what)"
        case .unsupportedFormat(let format, _): "no coder for \(format)" + (advice.map { ": \($0)" } ?? "")
        case .unsupportedExtension(let text, let formats, _):
            "the file extension '\(text)' names no format that can be written: "
                + (formats.isEmpty ? "there is no encoder" : formats.map(\.name).joined(separator: ", "))
                + (advice.map { "; \($0)" } ?? "")
        case .damaged(let format, let reason): "damaged \(format): \(reason)"
        case .limitExceeded(let what, let value, let limit): "\(what): \(value) is more than the limit of \(limit)"
        case .encodingFailed(let format, let reason): "cannot encode \(format): \(reason)"
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

extension CodecError {
    /// The error for data of a known format that no decoder reads.
    package static func noDecoder(for format: ImageFormat) -> CodecError {
        .unsupportedFormat(format, product: FormatProduct.missing(toDecode: format))
    }

    /// The error for a format that no encoder writes.
    package static func noEncoder(for format: ImageFormat) -> CodecError {
        .unsupportedFormat(format, product: FormatProduct.missing(toEncode: format))
    }
}
