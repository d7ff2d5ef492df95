import HalcyonImage
import HalcyonProcessing

extension ImageTarget {
    /// The options for showing a load.
    public struct Options: Sendable {
        /// The time at which the placeholder is shown.
        public enum PlaceholderTiming: Sendable, Hashable {
            /// From the start until the image is there.
            case immediate
            /// Only if the load fails; the former content stays until then.
            case onFailure
        }

        /// The content after a load that failed.
        public enum Failure: Sendable {
            /// The placeholder.
            case placeholder
            /// An image; nil shows nothing.
            case image(Image?)
        }

        /// The handling of a load that a new one replaces.
        public enum FormerLoad: Sendable, Hashable {
            /// The load is cancelled, unless others wait for it.
            case cancel
            /// The load goes on in the background, for the caches.
            case finish
        }

        /// The placeholder; nil, the default, leaves the target empty until the image is there.
        public var placeholder: Placeholder?
        /// The time at which the placeholder is shown, `.immediate` by default.
        public var placeholderTiming: PlaceholderTiming
        /// The content after a load that failed, `.placeholder` by default.
        public var failure: Failure
        /// Whether the shown image stays until the new one is there; if none is shown, the placeholder is. False by
        /// default.
        public var keepsCurrent: Bool
        /// Whether the target shows the image once it is there; true by default. False leaves that to the completion.
        public var setsAutomatically: Bool
        /// The transition to the image; nil, the default, shows it without one.
        public var transition: ImageTransition?
        /// Whether the end is reported after the transition; by default it is reported once the image is on the view.
        public var waitsForTransition: Bool
        /// The handling of a former load that has not ended, `.cancel` by default.
        public var formerLoad: FormerLoad

        /// Creates options; omitted arguments take the defaults that the properties state.
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

        /// The placeholder as content; `.nothing` if there is none.
        var placeholderContent: Content { placeholder.map { .placeholder($0) } ?? .nothing }
    }

    /// A stand-in for an image that is not there yet.
    public enum Placeholder: Sendable {
        /// An image, still or animated.
        case image(Image)
        /// Any value that the surface can show, such as a widget.
        case custom(any Sendable)
    }

    /// The content of a target.
    public enum Content: Sendable {
        /// No content.
        case nothing
        /// The placeholder of a load.
        case placeholder(Placeholder)
        /// Part of the image, or a stale one. Shown any number of times before the image.
        case preview(ImagePreview)
        /// The image of a load.
        case image(ImageResponse)
        /// The image for a load that failed.
        case failure(Image)
        /// An image that the program provided.
        case own(Image)

        /// The still image or animation of the content, including that of a preview; nil for `nothing` and a
        /// placeholder that is not an image.
        public var image: Image? {
            switch self {
            case .image(let response): response.image
            case .preview(let preview): preview.image
            case .failure(let image), .own(let image), .placeholder(.image(let image)): image
            case .nothing, .placeholder: nil
            }
        }
    }

    /// The state of a target.
    public enum State: Sendable {
        /// Nothing was loaded; an image that the program provided may be shown.
        case empty
        /// A load is under way. The progress is nil before the first bytes.
        case loading(LoadProgress?)
        /// The image of the last load is shown.
        case showing(ImageResponse)
        /// The last load failed.
        case failed(any Error)
    }

    /// The end of a load. Each load ends in exactly one of these.
    public enum End: Sendable {
        /// The image is on the view, or was passed to the completion if the options say so.
        case shown(ImageResponse)
        /// The image could not be loaded: `ImagePipelineError`.
        case failed(any Error)
        /// The load was cancelled, or there was nothing to load.
        case cancelled
        /// Another load replaced it, or the target was cleared or given an image.
        case superseded
    }
}

extension ImageTarget.Placeholder {
    /// Returns the blurred picture of a BlurHash as a placeholder, decoded at once: 0.02 ms for 32 x 32 pixels.
    ///
    /// - Parameter size: the size in pixels; the aspect ratio of the expected image keeps the layout of a list stable.
    /// - Throws: `BlurHashError`.
    public static func blurHash(_ text: String, size: PixelSize = PixelSize(32, 32)) throws -> Self {
        .image(try BlurHash(text).image(size))
    }

    /// Returns the image of a request at any size that memory has as a placeholder, such as the thumbnail from which a
    /// picture was opened; nil if memory has none.
    public static func cached(_ request: ImageRequest, in pipeline: ImagePipeline = .shared) -> Self? {
        ImageTarget.Subject(request, .init(), pipeline).standIn.map { .image($0.image) }
    }
}
