import Foundation

/// The metadata of a response that is needed to request the rest of exactly the same body.
public struct PartialBodyRecord: Codable, Sendable, Equatable {
    /// The value for `If-Range`: a strong ETag, or else a `Last-Modified` that is at least a minute older than the response.
    public let validator: String
    /// The length of the whole body in bytes; nil if the server did not declare it.
    public let total: Int?
    /// The response's header fields without `Set-Cookie`.
    public let headers: HTTPHeaders

    /// Creates the record of a response; nil if its body cannot be resumed: the status is not 200, the body is
    /// compressed or is a part, there is no validator, the response must not be stored, or the server declares that it
    /// does not support ranges.
    init?(_ head: HTTPResponseHead) {
        guard head.status == 200, head.contentCodings.isEmpty, !head.headers.contains("Content-Range"),
            head.headers["Accept-Ranges"]?.lowercased() != "none",
            !CacheControl(head.headers.values(of: "Cache-Control")).contains("no-store"),
            let validator = Self.validator(head.headers)
        else { return nil }
        self.validator = validator
        total = head.contentLength
        var headers = head.headers
        headers.remove("Set-Cookie")
        self.headers = headers
    }

    private init(validator: String, total: Int?, headers: HTTPHeaders) {
        self.validator = validator
        self.total = total
        self.headers = headers
    }

    /// Returns the record with the length and the fields of a later response.
    func updated(total: Int, headers: HTTPHeaders) -> PartialBodyRecord {
        var headers = headers
        headers.remove("Set-Cookie")
        return PartialBodyRecord(validator: validator, total: total, headers: headers)
    }

    private static func validator(_ headers: HTTPHeaders) -> String? {
        if let tag = headers["ETag"] { return isStrong(tag) ? tag : nil }
        guard let text = headers["Last-Modified"], let modified = HTTPDate.parse(text),
            let sent = headers["Date"].flatMap({ HTTPDate.parse($0) }), sent.timeIntervalSince(modified) >= 60
        else { return nil }
        return text
    }

    /// Returns whether a tag is strong. A weak one (W/"...") may stand for two bodies that differ in their bytes.
    private static func isStrong(_ tag: String) -> Bool {
        tag.utf8.count > 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
            && tag.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }
}
