import Foundation

/// A decoded image: upright pixels, sRGB but for `colorProfile`, and what its file said about it.
public struct Image: Sendable {
    public let bitmap: Bitmap
    /// The source file's facts. `info.size` is the source's size, which a decode at a smaller size keeps.
    public let info: ImageInfo
    /// The frames, of which `bitmap` is the first; nil for a still image, or where only the first was asked for.
    public let animation: AnimatedImage?

    /// Pixels of the image for one unit of a view: 2 for a file named `photo@2x.png`, else 1. It changes the size that
    /// a view gives the image, never a pixel.
    public var scale: Double = 1

    /// Whether a view paints the image's alpha in its own colour, as a symbol in a text's. False by default; no pixel changes.
    public var isTemplate = false

    /// Whether a view mirrors the image where text runs from right to left, as an arrow. False by default; no pixel changes.
    public var mirrorsForRightToLeft = false

    /// The ICC profile of the pixels where they are not sRGB, because the decode was told to leave them as they are.
    public var colorProfile: Data?

    public init(bitmap: Bitmap, info: ImageInfo, animation: AnimatedImage? = nil) {
        self.bitmap = bitmap
        self.info = info
        self.animation = animation
    }

    /// Pixels of this image.
    public var size: PixelSize { bitmap.size }
    public var width: Int { bitmap.width }
    public var height: Int { bitmap.height }

    /// The same facts with other pixels, without an animation: what a processor returns.
    public func replacing(_ bitmap: Bitmap) -> Image { replacing(bitmap, animation: nil) }

    /// The same pixels with an animation of which they are the first frame.
    package func replacing(animation: AnimatedImage) -> Image {
        replacing(bitmap, animation: animation)
    }

    private func replacing(_ bitmap: Bitmap, animation: AnimatedImage?) -> Image {
        var image = Image(bitmap: bitmap, info: info, animation: animation)
        (image.scale, image.colorProfile) = (scale, colorProfile)
        (image.isTemplate, image.mirrorsForRightToLeft) = (isTemplate, mirrorsForRightToLeft)
        return image
    }

    /// The bytes that it keeps in memory, which is what it costs a memory cache.
    public var cost: Int { bitmap.byteCount + (animation?.cost ?? 0) }
}
