import HalcyonImage

/// What there is to show before an image is whole: part of it, or a stale one.
///
/// A type of its own, so that no cache can be given one for an image.
public struct ImagePreview: Sendable {
    /// The pixels so far, at the size and with the processors of the request.
    public let bitmap: Bitmap
    /// What is known of the image; `isPreview` is true.
    public let info: ImageInfo
    /// Pixels for one unit of a view, as `Image.scale`.
    public let scale: Double
    /// As `Image.isTemplate`.
    public let isTemplate: Bool
    /// As `Image.mirrorsForRightToLeft`.
    public let mirrorsForRightToLeft: Bool

    init(_ image: Image) {
        bitmap = image.bitmap
        var info = image.info
        info.isPreview = true
        self.info = info
        scale = image.scale
        (isTemplate, mirrorsForRightToLeft) = (image.isTemplate, image.mirrorsForRightToLeft)
    }

    /// Pixels of this preview.
    public var size: PixelSize { bitmap.size }
}
