import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// A serializer that keeps every finished image in one format, whatever its source's format. A source that the image does not
/// show unchanged keeps its own bytes.
///
/// An image that the format cannot hold is kept as PNG, so that no image comes back with less than was stored: one with alpha
/// in a JPEG, or an animation in a format without frames. A vector image keeps its source's bytes.
public struct FixedFormatCacheSerializer: CacheSerializer, Hashable {
    public let format: ImageFormat
    public let options: EncodeOptions

    public init(_ format: ImageFormat, options: EncodeOptions = EncodeOptions()) {
        self.format = format
        self.options = options
    }

    public func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data? {
        // Pixels hold less than a vector image.
        if input.image.info.isVector, let original = input.original { return original }
        let fits = input.coders.canEncode(format, showing: input.image)
        return try input.coders.encode(
            input.image, as: fits ? format : .png, options: fits ? options : EncodeOptions(), context: context)
    }
}

extension CoderRegistry {
    /// Whether a file of a format holds all of an image: its transparency and its frames.
    fileprivate func canEncode(_ format: ImageFormat, showing image: Image) -> Bool {
        guard let encoder = encoder(for: format) else { return false }
        if format == .jpeg, !image.bitmap.isOpaque { return false }
        return image.animation == nil || encoder is any AnimatedImageEncoder
    }
}

extension CacheSerializer where Self == FixedFormatCacheSerializer {
    /// A serializer that keeps every finished image as PNG.
    public static var png: FixedFormatCacheSerializer { FixedFormatCacheSerializer(.png) }
    /// A serializer that keeps every finished image as JPEG, or as PNG if it has alpha.
    ///
    /// - Parameter quality: from 0 to 1; 0.85 by default.
    public static func jpeg(quality: Double = 0.85) -> FixedFormatCacheSerializer {
        FixedFormatCacheSerializer(.jpeg, options: EncodeOptions(quality: quality))
    }
    /// A serializer that keeps every finished image as GIF, with 256 colours and pixels that are either transparent or opaque.
    public static var gif: FixedFormatCacheSerializer { FixedFormatCacheSerializer(.gif) }
}
