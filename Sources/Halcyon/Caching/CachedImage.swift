import Foundation
import HalcyonCache
import HalcyonImage
import HalcyonNetwork

/// An entry of the memory cache. It is a class so that a look-up copies one reference and not every property of the image.
final class CachedImage: Sendable {
    let image: Image
    /// The length in bytes of the encoded image that it was made of.
    let encodedBytes: Int
    /// The HTTP metadata of the encoded image; nil for a file or data.
    let http: HTTPCacheMetadata?

    init(image: Image, encodedBytes: Int, http: HTTPCacheMetadata?) {
        self.image = image
        self.encodedBytes = encodedBytes
        self.http = http
    }

    /// A weak reference, which the memory cache keeps after it has evicted the entry; nil if the image cannot be held weakly.
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
