import CGTK
import Foundation
import Halcyon

/// One picture of a view, its image or its background, with a load, a transition and an animation of its own.
///
///     view.background.setImage(from: url)
///
/// A view makes its layers; they live as long as it does.
@MainActor public final class ImageLayer {
    /// `.contain` by default.
    public var contentFit: ContentFit = .contain {
        didSet {
            guard contentFit != oldValue else { return }
            paintable.contentFit = contentFit
            // An image that was cut for the one fit is too little for another.
            target.roomChanged()
        }
    }
    /// The natural size in units while there is no image, so that a list keeps its place; none by default.
    public var sizeHint: (width: Int, height: Int)? {
        didSet { paintable.sizeHint = sizeHint }
    }
    /// How animations are played; as their files say, by default. For the next image.
    public var playback = AnimatedImagePlayer.Configuration()
    /// Whether an animation plays as soon as it is seen; true by default. For the next image.
    public var autoPlay = true
    /// Plays the animation that is shown; nil for a still image.
    public internal(set) var player: AnimatedImagePlayer?
    /// The sign that an image is loading; nil, the default, is nothing. For the next load. Only over a view that has room
    /// for it: not a `GtkPicture` or a `GtkImage`.
    public var loadingIndicator: Indicator?
    /// Called when loading begins, goes on or ends.
    public var onStateChange: (@MainActor (ImageTarget.State) -> Void)?
    /// Called when a loop of an animation is over, with the number of loops to come, nil for ever.
    public var onLoop: (@MainActor (Int?) -> Void)?
    /// Called when the last loop of an animation is over.
    public var onAnimationEnd: (@MainActor () -> Void)?

    let paintable = ImagePaintable()
    let host: ViewHost
    private(set) lazy var target = ImageTarget(surface: self)
    var placeholder: UnsafeMutablePointer<GtkWidget>?
    var indicator: (kind: Indicator, widget: UnsafeMutablePointer<GtkWidget>)?
    /// The load of which frames of the animation that plays are yet to come; nil where there are none.
    var arrivingLoad: Int?
    /// Whether the animation is to play while the view is seen.
    var resumes = false
    /// The source of the image that is shown; nil while none is.
    var source: ImageSource?
    var transition: TransitionRun?
    var ticks: FrameTicks?
    let timer = MainTimer()
    /// Counts what was shown: a callback that shows something else is the last one of what it was called for.
    var shows = 0

    init(_ host: ViewHost) {
        self.host = host
        ticks = FrameTicks(host.area) { [weak self] time in self?.tick(time) ?? false }
        target.isSeen = isShown
    }

    isolated deinit {
        timer.stop()
        ticks?.stop()
        transition?.end()
    }

    /// The widget that it is drawn in.
    public var widget: UnsafeMutablePointer<GtkWidget> { host.area }

    // MARK: - What is shown

    /// How far it is.
    public var state: ImageTarget.State { target.state }

    /// The picture that is to be seen.
    public var content: ImageTarget.Content { target.content }

    /// How urgent its loads are while the view is seen; each request's own by default. Behind others while it is not.
    public var priority: RequestPriority? {
        get { target.priority }
        set { target.priority = newValue }
    }

    /// Nothing is to be seen of it.
    var isEmpty: Bool {
        if case .nothing = target.content { true } else { false }
    }

    /// Called when something else is shown.
    var onContent: (@MainActor () -> Void)?

    /// Whether the view has it on show, as a button the image of the state that it is in.
    var isActive = true {
        didSet { if isActive != oldValue { sightChanged() } }
    }

    /// The view is seen, and has this layer on show.
    var isShown: Bool { host.isSeen && isActive }

    // MARK: - Loads

    /// Loads the image of a URL and shows it, instead of whatever was loading or shown.
    ///
    /// - Parameters:
    ///   - url: nil shows the placeholder and ends in `.failed`.
    ///   - keepsCurrent: whether the image that is shown stays until the new one is there.
    ///   - failureImage: shown where the load fails; nil is the placeholder.
    ///   - processors: they are given the image at the size of the view, and count in its pixels; with a resize or a crop
    ///     among them, the image at its own size.
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

    /// The same, with all that a request and the options can say.
    public func setImage(
        _ request: ImageRequest, options: ImageTarget.Options = .init(), pipeline: ImagePipeline = .shared,
        completion: (@MainActor (ImageTarget.End) -> Void)? = nil
    ) {
        target.setImage(request, options: options, pipeline: pipeline, completion: completion)
    }

    /// Shows an image that the program has, instead of whatever was loading or shown; nil shows nothing.
    public func showImage(_ image: Image?) { target.show(image) }

    /// Ends the load that is under way; what is seen stays.
    public func cancel() { target.cancel() }

    /// Loads what is shown or failed once more, from the server; what is shown stays meanwhile. Ends in `.cancelled` where
    /// there is nothing to load.
    public func reload(completion: (@MainActor (ImageTarget.End) -> Void)? = nil) {
        target.reload(completion: completion)
    }
}

extension ImageLayer: SizedImageSurface {
    package var room: ViewRoom? {
        // A view that shows a part of what it is laid out for is given the whole.
        let fit = host.box == nil ? contentFit : .contain
        return host.pixels.map { ViewRoom(pixels: $0, fit: fit, scaleFactor: host.scaleFactor) }
    }
}
