import HalcyonImage

/// Why data could not be decoded or an image not be encoded.
public enum CodecError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The data is something else, said in words: `empty`, `an HTML page`.
    case notAnImage(String)
    /// A known format, for which no coder was built in or added.
    case unsupportedFormat(ImageFormat)
    /// The file is broken or was cut off.
    case damaged(ImageFormat, reason: String)
    /// More than `DecodeLimits` or the whole `DecodeBudget` allow, or than a format's reader takes on; found before
    /// anything is allocated for the pixels.
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
