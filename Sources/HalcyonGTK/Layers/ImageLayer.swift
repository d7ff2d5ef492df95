import CGTK
import Foundation
import Halcyon

/// One picture of a view, with a load, a transition and an animation of its own.
///
///     view.background.setImage(from: url)
///
/// An `ImageView` is the layer of its image, and creates those of its background and its highlight; an `ImageButton` has
/// layers for each of its states. They live as long as the view.
@MainActor public class ImageLayer {
    /// The fit of the image in the view; `.contain` by default. A `GtkPicture` that the program created fits the image itself.
    public var contentFit: ContentFit = .contain {
        didSet {
            guard contentFit != oldValue else { return }
            paintable.contentFit = contentFit
            // An image that was cropped for one fit may be too small for another.
            target.roomChanged()
        }
    }
    /// The natural size in units while there is no image, so that a list keeps its position; none by default.
    public var sizeHint: (width: Int, height: Int)? {
        didSet { paintable.sizeHint = sizeHint }
    }
    /// The playback settings of animations; the files' own by default. They take effect with the next image.
    public var playback = AnimatedImagePlayer.Configuration()
    /// Whether an animation plays as soon as it is visible; true by default. Takes effect with the next image.
    public var autoPlay = true
    /// The player of the animation that is shown; nil for a still image.
    public internal(set) var player: AnimatedImagePlayer?
    /// The indicator that is shown while an image is loading; nil, the default, shows none. Takes effect with the next load.
    /// A `GtkPicture` and a `GtkImage` of the program have no room for one.
    public var loadingIndicator: Indicator?
    /// Called when loading begins, goes on or ends.
    public var onStateChange: (@MainActor (ImageTarget.State) -> Void)?
    /// Called when a loop of an animation has ended, with the number of remaining loops; nil for an endless animation.
    public var onLoop: (@MainActor (Int?) -> Void)?
    /// Called when the last loop of an animation has ended.
    public var onAnimationEnd: (@MainActor () -> Void)?

    let paintable = ImagePaintable()
    let host: ViewHost
    private(set) lazy var target = ImageTarget(surface: self)
    var placeholder: UnsafeMutablePointer<GtkWidget>?
    var indicator: (kind: Indicator, widget: UnsafeMutablePointer<GtkWidget>)?
    /// The number of the load that still delivers frames of the playing animation; nil if none does.
    var arrivingLoad: Int?
    /// Whether the animation is to play while the view is visible.
    var resumes = false
    /// The source of the image that is shown; nil while none is.
    var source: ImageSource?
    var transition: TransitionRun?
    var ticks: FrameTicks?
    let timer = MainTimer()
    /// A counter of the content changes: it shows whether a callback has replaced the content.
    var contentCount = 0

    init(_ host: ViewHost) {
        self.host = host
        ticks = FrameTicks(host.area) { [weak self] time in self?.tick(time) ?? false }
        target.isVisible = isShown
    }

    isolated deinit {
        timer.stop()
        ticks?.stop()
        transition?.end()
    }

    /// The widget that the layer is drawn in, for animators of transitions.
    public var drawingWidget: UnsafeMutablePointer<GtkWidget> { host.area }

    // MARK: - Content

    /// The state of the load.
    public var state: ImageTarget.State { target.state }

    /// The content that is shown.
    public var content: ImageTarget.Content { target.content }

    /// The priority of the loads while the view is visible; by default, that of each request. While the view is not visible,
    /// its loads come after others.
    public var priority: RequestPriority? {
        get { target.priority }
        set { target.priority = newValue }
    }

    /// Whether the layer has no content.
    var isEmpty: Bool {
        if case .nothing = target.content { true } else { false }
    }

    /// Called when the content has changed.
    var onContent: (@MainActor () -> Void)?

    func contentChanged() { onContent?() }

    /// Whether the view shows this layer, as a button shows the image of its current state.
    var isActive = true {
        didSet { if isActive != oldValue { visibilityChanged() } }
    }

    /// Whether the view is visible and shows this layer.
    var isShown: Bool { host.isVisible && isActive }

    // MARK: - Loads

    /// Loads the image of a URL and shows it, in place of the current load and image.
    ///
    /// - Parameters:
    ///   - url: the URL of the image; nil shows the placeholder and ends in `.failed`.
    ///   - indicator: the loading indicator; nil keeps the present one.
    ///   - keepsCurrent: whether the current image stays until the new one is there.
    ///   - failureImage: the image that is shown if the load fails; nil is the placeholder.
    ///   - processors: the processors to apply. Their input is the image at the size of the view, and their lengths count in
    ///     its pixels; with a resize or a crop among them, the input is the image at its own size.
    ///   - completion: called once, with the image on the view.
    public func setImage(
        from url: URL?, placeholder: ImageTarget.Placeholder? = nil, indicator: Indicator? = nil,
        transition: ImageTransition? = nil, keepsCurrent: Bool = false, failureImage: Image? = nil,
        processors: [any ImageProcessor]? = nil, pipeline: ImagePipeline = .shared,
        completion: (@MainActor (ImageTarget.End) -> Void)? = nil
    ) {
        if let indicator { loadingIndicator = indicator }
        setImage(
            ImageRequest(url, processors: processors),
            options: .init(
                placeholder: placeholder, failure: failureImage.map { .image($0) } ?? .placeholder,
                keepsCurrent: keepsCurrent, transition: transition),
            pipeline: pipeline, completion: completion)
    }

    /// Loads the image of a request and shows it, with all settings of a request and all options.
    public func setImage(
        _ request: ImageRequest, options: ImageTarget.Options = .init(), pipeline: ImagePipeline = .shared,
        completion: (@MainActor (ImageTarget.End) -> Void)? = nil
    ) {
        target.setImage(request, options: options, pipeline: pipeline, completion: completion)
    }

    /// Shows an image that the program has, in place of the current load and image; nil shows nothing.
    public func showImage(_ image: Image?) { target.showImage(image) }

    /// Cancels the current load; the image stays.
    public func cancel() { target.cancel() }

    /// Loads the image that is shown or has failed again, from the server; the image stays meanwhile. Ends in `.cancelled` if
    /// there is nothing to load.
    public func reload(completion: (@MainActor (ImageTarget.End) -> Void)? = nil) {
        target.reload(completion: completion)
    }
}

extension ImageLayer: SizedImageSurface {
    package var room: ViewRoom? {
        // A view that shows a part of its layout is given the whole image.
        let fit = host.box == nil ? contentFit : .contain
        return host.pixels.map { ViewRoom(pixels: $0, fit: fit, scaleFactor: host.scaleFactor) }
    }
}
