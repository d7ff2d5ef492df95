import Foundation

/// A decoded image: upright pixels, sRGB unless `colorProfile` is set, and the facts from the header of its file.
///
/// A copy counts two references, however many facts there are: caches and responses copy images.
public struct Image: Sendable {
    private struct Facts: Sendable {
        var info: ImageInfo
        var animation: AnimatedImage?
        var colorProfile: Data?
        var gainMap: GainMap?
        var deepBitmap: DeepBitmap?

        /// Whether all of the facts are true of other pixels as well: nothing belongs to these alone.
        var fitOtherPixels: Bool { animation == nil && gainMap == nil && deepBitmap == nil }
        /// The facts that are true of other pixels as well.
        var ofOtherPixels: Facts { Facts(info: info, colorProfile: colorProfile) }
    }

    private final class SharedFacts: Sendable {
        let values: Facts

        init(_ values: Facts) { self.values = values }
    }

    /// The decoded pixels, upright; for an animation, those of its first frame.
    public private(set) var bitmap: Bitmap
    private var shared: SharedFacts
    private var facts: Facts {
        get { shared.values }
        set { shared = SharedFacts(newValue) }
    }

    /// The facts from the source file. `info.size` is the size of the source, also after a decode at a smaller size.
    public var info: ImageInfo { facts.info }
    /// The frames, of which `bitmap` is the first; nil for a still image, or if only the first frame was requested.
    public var animation: AnimatedImage? { facts.animation }

    /// The pixels of more than 8 bits a channel, of the size of `bitmap`, if the decode was asked for them (`DecodeOptions.depth`).
    ///
    /// Nil otherwise, and for an animation. Resizing, cropping, flipping and quarter turns keep them; every other processor works on
    /// `bitmap`, and its result has none.
    public package(set) var deepBitmap: DeepBitmap? {
        get { facts.deepBitmap }
        set { facts.deepBitmap = newValue }
    }

    /// The image's pixels per unit of a view: 2 for a file named `photo@2x.png`, else 1. It changes the size at which a
    /// view shows the image, never a pixel.
    public var scale: Double = 1

    /// Whether a view paints the image's alpha in the view's own colour, as a symbol in the colour of a text. False by
    /// default; no pixel changes.
    public var isTemplate = false

    /// Whether a view mirrors the image where text runs from right to left, as it does an arrow. False by default; no pixel
    /// changes.
    public var mirrorsForRightToLeft = false

    /// The ICC profile of the pixels, if they are not sRGB because the decode was told to leave them as stored.
    public var colorProfile: Data? {
        get { facts.colorProfile }
        set { facts.colorProfile = newValue }
    }

    /// The gain map of these pixels, if the decode was asked for it (`DecodeOptions.decodesGainMap`) and the file has one, or if a
    /// program has set one. Cutting, turning and scaling the image does the same to the map; all other processing drops it. A JPEG is
    /// written with it (`EncodeOptions.keepsGainMap`).
    public var gainMap: GainMap? {
        get { facts.gainMap }
        set { facts.gainMap = newValue }
    }

    /// Creates an image from its parts. `animation` is nil, for a still image, by default.
    public init(bitmap: Bitmap, info: ImageInfo, animation: AnimatedImage? = nil) {
        self.bitmap = bitmap
        shared = SharedFacts(Facts(info: info, animation: animation))
    }

    /// The size of this image in pixels.
    public var size: PixelSize { bitmap.size }
    /// The width of this image in pixels.
    public var width: Int { bitmap.width }
    /// The height of this image in pixels.
    public var height: Int { bitmap.height }

    /// Returns an image with the same facts and another bitmap, without what belongs to the former pixels alone, as a processor
    /// returns it: an animation, a gain map, deep pixels.
    public func replacing(_ bitmap: Bitmap) -> Image {
        var image = self
        image.bitmap = bitmap
        if !facts.fitOtherPixels { image.facts = facts.ofOtherPixels }
        return image
    }

    /// Returns an image with the same pixels and an animation of which they are the first frame.
    package func replacing(animation: AnimatedImage) -> Image {
        var image = self
        image.facts.animation = animation
        return image
    }

    /// The bytes that the image keeps in memory, which are its cost in a memory cache.
    public var cost: Int {
        bitmap.byteCount + (animation?.cost ?? 0) + (colorProfile?.count ?? 0) + (gainMap?.cost ?? 0)
            + (deepBitmap?.byteCount ?? 0)
    }
}

extension Image {
    /// A closure that makes this image again from its bitmap, for as long as the source of its frames is kept alive elsewhere;
    /// nil if that source is not an object and therefore cannot be referenced weakly, or if there are other pixels that belong to
    /// these. The closure keeps neither alive.
    package var makeOfPixels: (@Sendable (Bitmap) -> Image?)? {
        guard gainMap == nil, deepBitmap == nil else { return nil }
        guard let animation else {
            return { [shared, scale, isTemplate, mirrorsForRightToLeft] bitmap in
                var image = Image(bitmap: bitmap, shared: shared)
                (image.scale, image.isTemplate, image.mirrorsForRightToLeft) = (
                    scale, isTemplate, mirrorsForRightToLeft
                )
                return image
            }
        }
        guard let frames = animation.weakReference else { return nil }
        return { [facts = facts.ofOtherPixels, scale, isTemplate, mirrorsForRightToLeft] bitmap in
            guard let animation = frames() else { return nil }
            var image = Image(bitmap: bitmap, shared: SharedFacts(facts)).replacing(animation: animation)
            (image.scale, image.isTemplate, image.mirrorsForRightToLeft) = (scale, isTemplate, mirrorsForRightToLeft)
            return image
        }
    }

    private init(bitmap: Bitmap, shared: SharedFacts) {
        (self.bitmap, self.shared) = (bitmap, shared)
    }
}
