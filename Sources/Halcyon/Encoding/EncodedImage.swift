import Foundation
import HalcyonImage

/// An image as it is sent: bytes, and what a web response says of them.
public struct EncodedImage: Sendable {
    public let data: Data
    /// For `Content-Type`.
    public let mediaType: String
    /// Of the encoded image.
    public let size: PixelSize
    /// For `ETag`, in its quotes: a strong one, the hash of the bytes. Equal bytes have the same, also after a restart.
    public let etag: String
    /// What the source's server said of its age, as it is now.
    public let freshness: EncodedFreshness
    /// `.disk` where the encoded bytes were in the cache; else where the image came from that was encoded.
    public let origin: ImageOrigin
    /// The source that the image came from; another than was asked for when an alternative stood in.
    public let source: ImageSource
    /// Which of HTTP's rules applied; nil for a file or data.
    public let cacheRule: CacheRule?
    /// Where the time went.
    public let metrics: LoadMetrics

    /// Whether a request with this `If-None-Match` has these bytes already: it is to be answered with 304.
    ///
    /// - Parameter field: the field's value: tags in a list, weak ones too, or `*`; nil is no field.
    public func matches(ifNoneMatch field: String?) -> Bool {
        guard let field else { return false }
        if field.trimmingCharacters(in: .whitespaces) == "*" { return true }
        // Compared weakly (RFC 9110, 13.1.2).
        return Self.tags(in: field).contains(etag)
    }

    /// The tags of a list, in their quotes; a comma within them divides nothing. None behind what is no tag.
    private static func tags(in field: String) -> [String] {
        var tags: [String] = []
        var rest = Substring(field)
        while true {
            rest = rest.drop { $0 == "," || $0 == " " || $0 == "\t" }
            if rest.hasPrefix("W/") { rest = rest.dropFirst(2) }
            guard rest.first == "\"", let end = rest.dropFirst().firstIndex(of: "\"") else { return tags }
            tags.append(String(rest[...end]))
            rest = rest[rest.index(after: end)...]
            guard rest.drop(while: { $0 == " " || $0 == "\t" }).first.map({ $0 == "," }) ?? true else { return tags }
        }
    }
}
