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
        return field.split(separator: ",").contains { part in
            let tag = part.trimmingCharacters(in: .whitespaces)
            // Compared weakly (RFC 9110, 13.1.2). The tag is hexadecimal, so no comma is in it.
            return tag == "*" || tag == etag || tag == "W/\(etag)"
        }
    }
}
