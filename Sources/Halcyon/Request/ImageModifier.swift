import HalcyonImage

/// A change to an image that is made when the image is delivered, and not before: caches hold the image without it.
///
///     request.modifier = .template.appending(.scale(2))
///
/// A modifier is for properties that tell a view how to show the image. Changes of pixels belong in an
/// `ImageProcessor`, which runs once and whose result is cached. A modifier runs at each delivery, including previews
/// and memory hits: on the caller's thread for a hit that is returned at once, otherwise on the thread of the
/// pipelines' bookkeeping. So it must be quick and must not block.
///
/// Two modifiers are equal if they make the same built-in changes, or were copied from one that was made with a closure.
public struct ImageModifier: Hashable, Sendable {
    private enum Change: Hashable, Sendable {
        case scale(Double)
        case template
        case mirroredForRightToLeft
        case custom(Closure)
    }

    /// A closure, which is equal to itself alone.
    private final class Closure: Hashable, Sendable {
        let modify: @Sendable (Image) -> Image

        init(_ modify: @escaping @Sendable (Image) -> Image) {
            self.modify = modify
        }

        static func == (left: Closure, right: Closure) -> Bool { left === right }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }

    private let changes: [Change]

    private init(changes: [Change]) {
        self.changes = changes
    }

    /// Creates a modifier that calls a closure. Two modifiers that are made of the same closure are not equal.
    public init(_ modify: @escaping @Sendable (Image) -> Image) {
        changes = [.custom(Closure(modify))]
    }

    /// Returns the modified image.
    public func callAsFunction(_ image: Image) -> Image {
        var image = image
        for change in changes {
            switch change {
            case .scale(let scale): image.scale = scale
            case .template: image.isTemplate = true
            case .mirroredForRightToLeft: image.mirrorsForRightToLeft = true
            case .custom(let closure): image = closure.modify(image)
            }
        }
        return image
    }

    /// Returns a modifier that applies this one, then another.
    public func appending(_ next: ImageModifier) -> ImageModifier {
        ImageModifier(changes: changes + next.changes)
    }

    /// Returns a modifier that sets `Image.scale`, the number of pixels for one unit of a view.
    public static func scale(_ scale: Double) -> ImageModifier { ImageModifier(changes: [.scale(scale)]) }

    /// A modifier that sets `Image.isTemplate`, which is false in every cache: a view paints the image's alpha in its
    /// own colour.
    public static let template = ImageModifier(changes: [.template])

    /// A modifier that sets `Image.mirrorsForRightToLeft`, which is false in every cache: a view mirrors the image
    /// where text runs from right to left.
    public static let mirroredForRightToLeft = ImageModifier(changes: [.mirroredForRightToLeft])
}
