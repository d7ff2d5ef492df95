import Foundation
import HalcyonImage

/// An encoded image for a web response: the bytes, and the values of the response's header fields.
public struct EncodedImage: Sendable {
    /// The encoded bytes, which are the body of the response.
    public var data: Data { answer.data }
    /// The media type, for `Content-Type`.
    public var mediaType: String { answer.mediaType }
    /// The size of the encoded image in pixels.
    public var size: PixelSize { answer.size }
    /// The value for `ETag`, in quotes: a strong one, the hash of the bytes. Equal bytes have the same ETag, also after
    /// a restart.
    public var etag: String { answer.etag }
    /// The freshness that the source's server declared, as of now.
    public let freshness: EncodedFreshness
    /// The origin: `.disk`, `.stale` or `.revalidated` if the encoded bytes were in the cache; otherwise that of the
    /// image that was encoded.
    public var origin: ImageOrigin { answer.provenance.origin }
    /// The source that the image came from; it differs from the requested one if an alternative stood in.
    public let source: ImageSource
    /// The HTTP cache rule that applied; nil for a file or data.
    public var cacheRule: CacheRule? { answer.provenance.rule }
    /// The metrics of the load.
    public let metrics: LoadMetrics
    let answer: EncodedAnswer

    /// Returns whether a request with this `If-None-Match` field has these bytes already, so that the response is a
    /// 304.
    ///
    /// - Parameter field: the field's value: a list of tags, including weak ones, or `*`; nil if the request has no
    ///   such field.
    public func matches(ifNoneMatch field: String?) -> Bool { Self.matches(ifNoneMatch: field, etag: etag) }

    /// Returns the same for bytes whose ETag is kept without them.
    public static func matches(ifNoneMatch field: String?, etag: String) -> Bool {
        guard let field else { return false }
        if field.trimmingCharacters(in: .whitespaces) == "*" { return true }
        // The comparison is weak (RFC 9110, 13.1.2).
        return tags(in: field).contains(etag)
    }

    /// Returns the tags of a list, in quotes; a comma within a tag does not separate tags. Parsing stops at the first
    /// part that is not a tag.
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
