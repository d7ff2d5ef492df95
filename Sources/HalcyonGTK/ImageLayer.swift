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
            // What was cut for the one is too little for another.
            if !isEmpty { resized() }
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
    /// What tells that an image is loading; nil, the default, is nothing. For the next load. Only over a view that has room
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
    let sizing = ViewSizing()
    let settling = MainTimer()
    /// The load that waits for the first layout.
    var waiting: WaitingLoad?
    /// What is shown is the image at another size, until the view has one.
    var hasStandIn = false
    var placeholder: UnsafeMutablePointer<GtkWidget>?
    var indicator: (kind: Indicator, widget: UnsafeMutablePointer<GtkWidget>)?
    /// The load of which frames of the animation that plays are yet to come; nil where there are none.
    var arrivingLoad: Int?
    /// Whether the animation is to play while the view is seen.
    var resumes = false
    /// Whether it was on show when that was last looked at.
    var wasShown = false
    /// The image that is shown, or comes, is the one before it at another size.
    var isRenewed = false
    /// Where the image that is shown came from; nil while none is.
    var source: ImageSource?
    var transition: TransitionRun?
    var ticks: FrameTicks?
    let timer = MainTimer()
    /// Counts what was shown: a callback that shows something else is the last one of what it was called for.
    var shows = 0

    init(_ host: ViewHost) {
        self.host = host
        wasShown = isShown
        ticks = FrameTicks(host.area) { [weak self] time in self?.tick(time) ?? false }
        updatePriority()
    }

    isolated deinit {
        settling.stop()
        timer.stop()
        ticks?.stop()
        takeWaiting()?.end(.cancelled)
        transition?.end()
    }

    /// The widget that it is drawn in.
    public var widget: UnsafeMutablePointer<GtkWidget> { host.area }

    // MARK: - What is shown

    /// How far it is.
    public var state: ImageTarget.State { target.state }

    /// What is to be seen.
    public var content: ImageTarget.Content { target.content }

    /// How urgent its loads are while the view is seen; each request's own by default. Behind others while it is not.
    public var priority: RequestPriority? {
        didSet { updatePriority() }
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
        let former = takeWaiting()
        hasStandIn = false
        settling.stop()
        let request = pipeline.configuration.defaults.applied(to: request)
        // The same again, where what is shown is large enough yet, is the very same.
        let isSame = sizing.isSame(request, pipeline) && !isOutgrown
        let isAgain = sizing.isShown(request, pipeline) && !isEmpty
        sizing.begin(.init(request: request, options: options, pipeline: pipeline), keepingSize: isSame)
        load(.init(isAgain: isAgain, completion: completion))
        former?.end(.superseded)
    }

    /// Shows an image that the program has, instead of whatever was loading or shown; nil shows nothing.
    public func showImage(_ image: Image?) {
        settling.stop()
        let former = takeWaiting()
        isRenewed = false
        endStandIn()
        sizing.begin(nil)
        target.show(image)
        former?.end(.superseded)
    }

    /// Ends the load that is under way; what is seen stays.
    public func cancel() {
        settling.stop()
        let former = takeWaiting()
        if target.isLoading { sizing.revert() }
        target.cancel()
        if isOutgrown { settle() }
        former?.end(.cancelled)
    }

    /// Loads what is shown or failed once more, from the server; what is shown stays meanwhile. Ends in `.cancelled` where
    /// there is nothing to load.
    public func reload(completion: (@MainActor (ImageTarget.End) -> Void)? = nil) {
        settling.stop()
        // One that waits has not begun: once it does, it asks the server.
        let former = takeWaiting()
        guard sizing.wish != nil else { return target.reload(completion: completion) }
        load(.init(asksServer: true, isReload: former == nil, completion: completion))
        former?.end(.superseded)
    }

    func takeWaiting() -> WaitingLoad? {
        defer { waiting = nil }
        return waiting
    }

    func updatePriority() {
        // It may come back: its load goes on, behind those of what is seen.
        target.priority = isShown ? priority : min(priority ?? sizing.wish?.request.priority ?? .low, .low)
    }

    /// The view is seen, and has this layer on show.
    var isShown: Bool { host.isSeen && isActive }
}
