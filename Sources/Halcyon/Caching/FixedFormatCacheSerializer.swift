import Foundation
import HalcyonCodecs
import HalcyonImage
import HalcyonSystem

/// Keeps every finished image in one format, whatever its source was; a source that the image does not show keeps its own
/// bytes.
///
/// What the format cannot show is kept as PNG instead, so that no image comes back poorer than it was stored: alpha in a
/// JPEG, frames in a format without them. A drawing stays one.
public struct FixedFormatCacheSerializer: CacheSerializer, Hashable {
    public let format: ImageFormat
    public let options: EncodeOptions

    public init(_ format: ImageFormat, options: EncodeOptions = EncodeOptions()) {
        self.format = format
        self.options = options
    }

    public func data(for input: CacheSerializerInput, context: WorkContext) throws -> Data? {
        // Pixels are less than a drawing.
        if input.image.info.isVector, let original = input.original { return original }
        let fits = input.coders.canEncode(format, showing: input.image)
        return try input.coders.encode(
            input.image, as: fits ? format : .png, options: fits ? options : EncodeOptions(), context: context)
    }
}

extension CoderRegistry {
    /// Whether a file of a format shows all of an image: its transparency, its frames.
    fileprivate func canEncode(_ format: ImageFormat, showing image: Image) -> Bool {
        guard let encoder = encoder(for: format) else { return false }
        if format == .jpeg, !image.bitmap.isOpaque { return false }
        return image.animation == nil || encoder is any AnimatedImageEncoder
    }
}

extension CacheSerializer where Self == FixedFormatCacheSerializer {
    /// Every finished image as PNG.
    public static var png: FixedFormatCacheSerializer { FixedFormatCacheSerializer(.png) }
    /// Every finished image as JPEG, those with alpha as PNG.
    ///
    /// - Parameter quality: 0 to 1.
    public static func jpeg(quality: Double = 0.85) -> FixedFormatCacheSerializer {
        FixedFormatCacheSerializer(.jpeg, options: EncodeOptions(quality: quality))
    }
    /// Every finished image as GIF: 256 colours, and pixels that are transparent or not.
    public static var gif: FixedFormatCacheSerializer { FixedFormatCacheSerializer(.gif) }
}
