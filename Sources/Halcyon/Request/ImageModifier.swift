import HalcyonImage

/// A change to an image that is made when the image is delivered, and not before: caches hold the image without it.
///
///     request.modifier = .template.appending(.scale(2))
///
/// A modifier is for properties that tell a view how to show the image. Changes of pixels belong in an
/// `ImageProcessor`, which runs once and whose result is cached. A modifier runs at each delivery, including previews
/// and memory hits: on the caller's thread for a hit that is returned at once, otherwise on the thread of the
/// pipelines' bookkeeping. So it must be quick and must not block.
public struct ImageModifier: Sendable {
    private let modify: @Sendable (Image) -> Image

    public init(_ modify: @escaping @Sendable (Image) -> Image) {
        self.modify = modify
    }

    public func callAsFunction(_ image: Image) -> Image { modify(image) }

    /// Returns a modifier that applies this one, then another.
    public func appending(_ next: ImageModifier) -> ImageModifier {
        ImageModifier { next(self($0)) }
    }

    /// Returns a modifier that sets `Image.scale`, the number of pixels for one unit of a view.
    public static func scale(_ scale: Double) -> ImageModifier {
        ImageModifier { image in
            var image = image
            image.scale = scale
            return image
        }
    }

    /// A modifier that sets `Image.isTemplate`, which is false in every cache: a view paints the image's alpha in its
    /// own colour.
    public static let template = ImageModifier { image in
        var image = image
        image.isTemplate = true
        return image
    }

    /// A modifier that sets `Image.mirrorsForRightToLeft`, which is false in every cache: a view mirrors the image
    /// where text runs from right to left.
    public static let mirroredForRightToLeft = ImageModifier { image in
        var image = image
        image.mirrorsForRightToLeft = true
        return image
    }
}
