import HalcyonImage

/// What there is to show before an image is whole: part of it, or a stale one.
///
/// A type of its own, so that no cache can be given one for an image.
public struct ImagePreview: Sendable {
    /// The pixels so far, at the size and with the processors of the request.
    public let bitmap: Bitmap
    /// Of an animation the frames that there are so far, of which `bitmap` is the first; nil with one or none.
    public let animation: AnimatedImage?
    /// Whether it is a whole image, and stale; else it is part of one that arrives.
    public let isStale: Bool
    /// What is known of the image; `isPreview` is true.
    public let info: ImageInfo
    /// Pixels for one unit of a view, as `Image.scale`.
    public let scale: Double
    /// As `Image.isTemplate`.
    public let isTemplate: Bool
    /// As `Image.mirrorsForRightToLeft`.
    public let mirrorsForRightToLeft: Bool

    init(_ image: Image, isStale: Bool = false) {
        bitmap = image.bitmap
        animation = image.animation
        self.isStale = isStale
        var info = image.info
        info.isPreview = true
        self.info = info
        scale = image.scale
        (isTemplate, mirrorsForRightToLeft) = (image.isTemplate, image.mirrorsForRightToLeft)
    }

    /// What it shows, as an image; never for a cache.
    package var image: Image {
        var image = Image(bitmap: bitmap, info: info, animation: animation)
        (image.scale, image.isTemplate, image.mirrorsForRightToLeft) = (scale, isTemplate, mirrorsForRightToLeft)
        return image
    }

    /// Pixels of this preview.
    public var size: PixelSize { bitmap.size }
}
