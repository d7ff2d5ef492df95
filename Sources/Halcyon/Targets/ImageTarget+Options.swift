import HalcyonImage
import HalcyonProcessing

extension ImageTarget {
    /// How a load is shown.
    public struct Options: Sendable {
        /// When the placeholder is seen.
        public enum PlaceholderTiming: Sendable, Hashable {
            /// From the start until the image is there.
            case immediate
            /// Only where the load fails; until then what was shown before stays.
            case onFailure
        }

        /// The content after a load that failed.
        public enum Failure: Sendable {
            /// The placeholder.
            case placeholder
            /// An image; nil is nothing at all.
            case image(Image?)
        }

        /// The fate of a load whose place a new one takes.
        public enum FormerLoad: Sendable, Hashable {
            case cancel
            /// It goes on in the background, for the caches.
            case finish
        }

        /// Nil, the default, leaves the target empty until the image is there.
        public var placeholder: Placeholder?
        /// `.immediate` by default.
        public var placeholderTiming: PlaceholderTiming
        /// `.placeholder` by default.
        public var failure: Failure
        /// Whether the image that is shown stays until the new one is there; where there is none, the placeholder is seen.
        /// False by default.
        public var keepsCurrent: Bool
        /// Whether the image is shown when it is there; true by default. False leaves that to the completion.
        public var setsAutomatically: Bool
        /// Nil, the default, is none.
        public var transition: ImageTransition?
        /// Whether the end is told after the transition; by default it is told once the image is on the view.
        public var waitsForTransition: Bool
        /// `.cancel` by default.
        public var formerLoad: FormerLoad

        public init(
            placeholder: Placeholder? = nil, placeholderTiming: PlaceholderTiming = .immediate,
            failure: Failure = .placeholder, keepsCurrent: Bool = false, setsAutomatically: Bool = true,
            transition: ImageTransition? = nil, waitsForTransition: Bool = false, formerLoad: FormerLoad = .cancel
        ) {
            self.placeholder = placeholder
            self.placeholderTiming = placeholderTiming
            self.failure = failure
            self.keepsCurrent = keepsCurrent
            self.setsAutomatically = setsAutomatically
            self.transition = transition
            self.waitsForTransition = waitsForTransition
            self.formerLoad = formerLoad
        }

        /// Nothing, where no placeholder was given.
        var placeholderContent: Content { placeholder.map { .placeholder($0) } ?? .nothing }
    }

    /// A stand-in for an image that is not there yet.
    public enum Placeholder: Sendable {
        case image(Image)
        /// Anything that the surface knows how to show: a widget, for one.
        case custom(any Sendable)
    }

    /// The picture that is to be seen.
    public enum Content: Sendable {
        case nothing
        case placeholder(Placeholder)
        /// Part of the image, or a stale one; any number of times before the image.
        case preview(ImagePreview)
        case image(ImageResponse)
        /// The image that was given for a load that fails.
        case failure(Image)
        /// An image that the program had.
        case own(Image)

        /// The still image or animation of it, of a preview too; nil for `nothing` and a placeholder that is no image.
        public var image: Image? {
            switch self {
            case .image(let response): response.image
            case .preview(let preview): preview.image
            case .failure(let image), .own(let image), .placeholder(.image(let image)): image
            case .nothing, .placeholder: nil
            }
        }
    }

    /// How far the target is.
    public enum State: Sendable {
        /// Nothing was loaded; an image of the program's own may be seen.
        case empty
        /// Nothing is known of the progress before the first bytes.
        case loading(LoadProgress?)
        case showing(ImageResponse)
        case failed(any Error)
    }

    /// How a load ended; each ends in exactly one of these.
    public enum End: Sendable {
        /// The image is on the view, or in the completion's hands where the options say so.
        case shown(ImageResponse)
        case failed(any Error)
        case cancelled
        /// Another load, or nothing, took its place.
        case superseded
    }
}

extension ImageTarget.Placeholder {
    /// The blurred picture of a BlurHash, made at once: 0.02 ms for 32 x 32 pixels.
    ///
    /// - Parameter size: pixels; a shape like that of the image to come keeps a list in its place.
    /// - Throws: `BlurHashError`.
    public static func blurHash(_ text: String, size: PixelSize = PixelSize(32, 32)) throws -> Self {
        .image(try BlurHash(text).image(size))
    }

    /// An image as memory has it, whatever its size: the thumbnail that the picture was opened from. Nil where it has none.
    public static func cached(_ request: ImageRequest, in pipeline: ImagePipeline = .shared) -> Self? {
        ImageTarget.Subject(request, .init(), pipeline).standIn.map { .image($0.image) }
    }
}
