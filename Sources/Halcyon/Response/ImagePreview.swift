import HalcyonImage

/// An image that is shown before the load ends: part of the image, or a stale one.
///
/// It is a type of its own, so that no cache can be given a preview as an image.
public struct ImagePreview: Sendable {
    /// The pixels decoded so far, at the size and with the processors of the request.
    public let bitmap: Bitmap
    /// The frames of an animation that have arrived so far, of which `bitmap` is the first; nil with one frame or none.
    public let animation: AnimatedImage?
    /// Whether it is a whole image that is stale; otherwise it is part of one that is arriving.
    public let isStale: Bool
    /// The properties of the image that are known; `isPreview` is true.
    public let info: ImageInfo
    /// The number of pixels for one unit of a view, as in `Image.scale`.
    public let scale: Double
    /// Whether it is a template, as in `Image.isTemplate`.
    public let isTemplate: Bool
    /// Whether a view mirrors it where text runs from right to left, as in `Image.mirrorsForRightToLeft`.
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

    /// The preview as an image, which must never be put into a cache.
    package var image: Image {
        var image = Image(bitmap: bitmap, info: info, animation: animation)
        (image.scale, image.isTemplate, image.mirrorsForRightToLeft) = (scale, isTemplate, mirrorsForRightToLeft)
        return image
    }

    /// The size of this preview in pixels.
    public var size: PixelSize { bitmap.size }
}
