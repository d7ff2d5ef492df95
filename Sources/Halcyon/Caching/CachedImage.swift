import Foundation
import HalcyonCache
import HalcyonImage
import HalcyonNetwork

/// An image in memory. A class, so that a look at it copies a reference and not all that is known of an image.
final class CachedImage: Sendable {
    let image: Image
    /// Of the encoded bytes that it was made of.
    let encodedBytes: Int
    /// What HTTP said of those; nil for a file or data.
    let http: HTTPCacheMetadata?

    init(image: Image, encodedBytes: Int, http: HTTPCacheMetadata?) {
        self.image = image
        self.encodedBytes = encodedBytes
        self.http = http
    }

    /// What the memory cache keeps of it when it has no more room for it; nil where it cannot be kept weakly.
    var weakReference: WeakValue<CachedImage>? {
        if image.animation == nil {
            return WeakValue(image.bitmap) { [make = image.makeOfPixels, encodedBytes, http] in
                CachedImage(image: make($0), encodedBytes: encodedBytes, http: http)
            }
        }
        guard let image = image.weakReference else { return nil }
        return WeakValue { [encodedBytes, http] in
            image().map { CachedImage(image: $0, encodedBytes: encodedBytes, http: http) }
        }
    }
}
