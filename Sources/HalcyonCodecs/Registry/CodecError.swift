import HalcyonImage

/// An error of decoding data or encoding an image.
public enum CodecError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The data is not an image. The text completes "the data is": `empty`, `an HTML page`.
    case notAnImage(String)
    /// The format is known, but no coder for it is built in or was added.
    case unsupportedFormat(ImageFormat)
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
        case .unsupportedFormat: "unsupportedFormat"
        case .damaged: "damagedImage"
        case .limitExceeded: "limitExceeded"
        case .encodingFailed: "processing"
        }
    }

    public var description: String {
        switch self {
        case .notAnImage(let what): "not an image: the data is \(what)"
        case .unsupportedFormat(let format): "no coder for \(format)"
        case .damaged(let format, let reason): "damaged \(format): \(reason)"
        case .limitExceeded(let what, let value, let limit): "\(what): \(value) is more than the limit of \(limit)"
        case .encodingFailed(let format, let reason): "cannot encode \(format): \(reason)"
        }
    }
}
