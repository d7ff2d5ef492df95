/// A URL that is not answered with a picture.
public enum ImageURLError: Error, Sendable, Hashable {
    /// The path has more than ``ImageJob/Bounds/path`` bytes.
    case tooLong
    /// The path is none of the grammar's, for this reason.
    case path(String)
    /// The signature is missing or none of the keys made it.
    case signature
    /// An option, or a part of the grammar, that is unknown or not supported: its name.
    case unsupported(String)
    /// An option that is known but may not be used in URLs here: its name.
    case forbidden(String)
    /// An argument that the option does not take. The argument is cut after 64 characters.
    case invalid(option: String, argument: String, reason: String)
    /// More than ``ImageJob/Bounds/options`` options, or more than ``ImageJob/Bounds/expandedOptions`` with presets.
    case tooManyOptions
    /// The source may not be used.
    case source(SourceRefusal)

    /// The HTTP status of the answer.
    public var status: Int {
        switch self {
        case .tooLong: 414
        case .path: 404
        case .signature, .forbidden, .source: 403
        case .unsupported, .invalid, .tooManyOptions: 422
        }
    }

    static func invalid(_ option: String, _ argument: some StringProtocol, _ reason: String) -> ImageURLError {
        .invalid(option: option, argument: String(argument.prefix(64)), reason: reason)
    }

    static func unknown(_ option: some StringProtocol) -> ImageURLError {
        .unsupported(String(option.prefix(64)))
    }
}

extension ImageURLError: CustomStringConvertible {
    /// One line of printable ASCII, whatever stood in the URL.
    public var description: String {
        switch self {
        case .tooLong: "the path is longer than \(ImageJob.Bounds.path) bytes"
        case .path(let reason): "not a path of an image: \(reason)"
        case .signature: "the signature is not valid"
        case .unsupported(let option): "'\(option.printable)' is not supported"
        case .forbidden(let option): "'\(option.printable)' is not allowed"
        case .invalid(let option, let argument, let reason):
            "'\(argument.printable)' in '\(option.printable)' is not valid: \(reason)"
        case .tooManyOptions: "too many options"
        case .source(let refusal): "the source is not allowed: \(refusal)"
        }
    }
}

/// The reason why a source is not used.
public enum SourceRefusal: String, Error, Sendable, Hashable, CustomStringConvertible {
    /// No URL with a scheme and `://`.
    case relative = "it is not an absolute URL"
    /// The scheme is not among those configured.
    case scheme = "its scheme is not allowed"
    /// User information, or an `@` in the host.
    case credentials = "it has user information"
    /// The host is empty, percent-encoded, not ASCII, a number that is no plain address, or has an empty label.
    case host = "its host is not valid"
    /// The port is not 1...65535 in plain digits.
    case port = "its port is not valid"
    /// A character that programs understand in different ways, or an incomplete percent-encoding.
    case character = "it has a character that is not allowed"
    /// `.` or `..` as a part of the path, percent-encoded or not.
    case dots = "its path has '.' or '..'"
    /// A fragment directly behind the host.
    case fragment = "its host ends with a fragment"
    /// Longer than ``ImageJob/Bounds/path``.
    case tooLong = "it is too long"
    /// No rule allows it.
    case notAllowed = "no rule allows it"

    public var description: String { rawValue }
}

extension String {
    /// The text with all but printable ASCII replaced by `?`.
    fileprivate var printable: String {
        String(decoding: utf8.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
