import HalcyonImage

/// What is done to an image when it is delivered, and not before: caches hold it as it was.
///
///     request.modifier = .template.appending(.scale(2))
///
/// For what tells a view how to show an image; what changes pixels is the work of an `ImageProcessor`, which is done once
/// and cached. Runs at each delivery, previews and memory hits among them: for a hit that is given at once on the caller's
/// thread, else on the one that keeps the pipeline's books, so it must be quick and wait for nothing.
public struct ImageModifier: Sendable {
    private let modify: @Sendable (Image) -> Image

    public init(_ modify: @escaping @Sendable (Image) -> Image) {
        self.modify = modify
    }

    public func callAsFunction(_ image: Image) -> Image { modify(image) }

    /// This one, then another.
    public func appending(_ next: ImageModifier) -> ImageModifier {
        ImageModifier { next(self($0)) }
    }

    /// Sets `Image.scale`: pixels for one unit of a view.
    public static func scale(_ scale: Double) -> ImageModifier {
        ImageModifier { image in
            var image = image
            image.scale = scale
            return image
        }
    }

    /// Sets `Image.isTemplate`, which is false in every cache: a view paints the image's alpha in its own colour.
    public static let template = ImageModifier { image in
        var image = image
        image.isTemplate = true
        return image
    }

    /// Sets `Image.mirrorsForRightToLeft`, which is false in every cache: a view mirrors the image where text runs from right to left.
    public static let mirroredForRightToLeft = ImageModifier { image in
        var image = image
        image.mirrorsForRightToLeft = true
        return image
    }
}
