import Foundation

/// What a server said of a body, by which it can be asked for the rest of the very same one.
public struct PartialBodyRecord: Codable, Sendable, Equatable {
    /// What `If-Range` is sent with: a strong ETag, else a `Last-Modified` that is a minute older than the answer.
    public let validator: String
    /// The body's length in bytes; nil where the server did not say.
    public let total: Int?
    /// The answer's fields, without `Set-Cookie`.
    public let headers: HTTPHeaders

    /// Nil for an answer that cannot be gone on with: another one than a plain 200, packed, without a validator, not to be
    /// stored, or of a server that says that it has no ranges.
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

    /// The same with what a later answer says.
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

    /// A weak tag (W/"...") may stand for two bodies that differ in their bytes.
    private static func isStrong(_ tag: String) -> Bool {
        tag.utf8.count > 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
            && tag.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }
}
