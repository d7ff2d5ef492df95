import CGTK
import CHalcyonGTK
import Foundation
@_exported import Halcyon

/// A view that shows one image of a URL, still or animated, in a GTK window.
///
///     let view = ImageView()
///     gtk_window_set_child(window, view.widget)
///     view.setImage(from: url, placeholder: .image(grey), transition: .fade())
///
/// Images are loaded at the size of the view in pixels of its screen, unless a request has a size of its own. Before the first
/// layout, an image of any size from the memory cache is shown. After a resize, a larger image is loaded once the view has
/// grown by a quarter and its size has been stable for 200 ms.
///
/// For a `GtkPicture`, `GtkImage` or `GtkButton` that the program created, `ImageView.of(_:)` returns a view.
///
/// The object owns its widget, and must be kept for as long as the widget is to show anything, or be attached to it with
/// `staysWithItsWidget()`. Animations play while the view can be seen (mapped, not transparent, not scrolled away), and use
/// neither processor time nor frames while it cannot. Call `GTKMainLoop.attach()` before GTK's loop runs.
@MainActor public class ImageView {
    /// The widget to put into the window: a `GtkOverlay` to which this object holds a reference, or the widget that the view
    /// was created for.
    public let widget: UnsafeMutablePointer<GtkWidget>

    /// The layer of the image, which most members below forward to; `background` and `highlight` are further layers.
    let image: ImageLayer
    private let layers: ViewLayers<Role>

    private enum Role: Hashable {
        case image, highlight
    }

    public init() {
        let host = ViewHost()
        layers = ViewLayers(host, wanted: [.image])
        image = layers.image(.image)
        widget = host.overlay ?? host.area
    }

    /// Creates the view of a widget that the program created; nil if the widget cannot show an image.
    private init?(adopting widget: UnsafeMutablePointer<GtkWidget>) {
        guard let adopted = AdoptedWidget(widget) else { return nil }
        layers = ViewLayers(adopted.host, wanted: [.image], contentFit: adopted.contentFit)
        image = layers.image(.image)
        self.widget = widget
    }

    /// Called when the content of one of the layers changes.
    var onContent: (@MainActor (ImageLayer) -> Void)? {
        get { layers.onContent }
        set { layers.onContent = newValue }
    }

    // MARK: - Ownership

    /// Returns the view of a `GtkPicture`, a `GtkImage` or a `GtkButton`; the first call creates it, and it stays with the
    /// widget. Returns nil for any other widget, and for a button that has an `ImageButton`. The view of a button replaces the
    /// button's child.
    ///
    /// A `GtkPicture` and a `GtkImage` have no room for placeholders and indicators that are widgets; these are not shown
    /// there.
    public static func of(_ widget: UnsafeMutablePointer<GtkWidget>) -> ImageView? {
        Attachment.of(widget) { ImageView(adopting: widget) }
    }

    /// Transfers this object to its widget, which keeps it until the widget is destroyed. For a widget that is about to get a
    /// parent: nothing else may hold a reference to it.
    public func staysWithItsWidget() {
        guard layers.host.giveAway() else { return }
        Signal(widget, "destroy") { withExtendedLifetime(self) {} }
    }

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
        image.setImage(
            from: url, placeholder: placeholder, indicator: indicator, transition: transition,
            keepsCurrent: keepsCurrent,
            failureImage: failureImage, processors: processors, pipeline: pipeline, completion: completion)
    }

    /// Loads the image of a request and shows it, with all settings of a request and all options.
    public func setImage(
        _ request: ImageRequest, options: ImageTarget.Options = .init(), pipeline: ImagePipeline = .shared,
        completion: (@MainActor (ImageTarget.End) -> Void)? = nil
    ) {
        image.setImage(request, options: options, pipeline: pipeline, completion: completion)
    }

    /// Shows an image that the program has, in place of the current load and image; nil shows nothing.
    public func showImage(_ image: Image?) { self.image.showImage(image) }

    /// Cancels the current load; the image stays.
    public func cancel() { image.cancel() }

    /// Loads the image that is shown or has failed again, from the server; the image stays meanwhile. Ends in `.cancelled` if
    /// there is nothing to load.
    public func reload(completion: (@MainActor (ImageTarget.End) -> Void)? = nil) {
        image.reload(completion: completion)
    }

    // MARK: - Content

    /// The state of the load.
    public var state: ImageTarget.State { image.state }

    /// The content that is shown.
    public var content: ImageTarget.Content { image.content }

    /// Called when loading begins, goes on or ends.
    public var onStateChange: (@MainActor (ImageTarget.State) -> Void)? {
        get { image.onStateChange }
        set { image.onStateChange = newValue }
    }

    /// The priority of the loads while the view is visible; by default, that of each request. While the view is not visible,
    /// its loads come after others.
    public var priority: RequestPriority? {
        get { image.priority }
        set { image.priority = newValue }
    }

    /// The fit of the image in the view; `.contain` by default. A `GtkPicture` that the program created fits the image itself.
    public var contentFit: ContentFit {
        get { image.contentFit }
        set { image.contentFit = newValue }
    }

    /// The natural size in units while there is no image, so that a list keeps its position; none by default.
    public var sizeHint: (width: Int, height: Int)? {
        get { image.sizeHint }
        set { image.sizeHint = newValue }
    }

    /// The indicator that is shown while an image is loading; nil, the default, shows none. Takes effect with the next load.
    public var loadingIndicator: Indicator? {
        get { image.loadingIndicator }
        set { image.loadingIndicator = newValue }
    }

    /// The playback settings of animations; the files' own by default. They take effect with the next image.
    public var playback: AnimatedImagePlayer.Configuration {
        get { image.playback }
        set { image.playback = newValue }
    }

    /// Whether an animation plays as soon as it is visible; true by default. Takes effect with the next image.
    public var autoPlay: Bool {
        get { image.autoPlay }
        set { image.autoPlay = newValue }
    }

    /// Called when a loop of an animation has ended, with the number of remaining loops; nil for an endless animation.
    public var onLoop: (@MainActor (Int?) -> Void)? {
        get { image.onLoop }
        set { image.onLoop = newValue }
    }

    /// Called when the last loop of an animation has ended.
    public var onAnimationEnd: (@MainActor () -> Void)? {
        get { image.onAnimationEnd }
        set { image.onAnimationEnd = newValue }
    }

    /// The player of the animation that is shown; nil for a still image.
    public var player: AnimatedImagePlayer? { image.player }

    /// Whether an animation is playing now.
    public var isPlaying: Bool { player?.isPlaying ?? false }

    /// Resumes the animation, or restarts it if it has ended. It plays once it is visible.
    public func play() { image.play() }

    /// Pauses the animation.
    ///
    /// - Parameter rewinding: whether `play()` restarts the animation from its beginning; false by default.
    public func stop(rewinding: Bool = false) { image.stop(rewinding: rewinding) }

    /// The text that a screen reader gives for the image; nil by default.
    public var accessibleLabel: String? {
        didSet { layers.host.setLabel(accessibleLabel) }
    }

    // MARK: - Roles

    /// The layer of another picture beneath the image, with loads of its own.
    public var background: ImageLayer { layers.background(.image) }

    /// The layer of the picture that replaces the image while `isHighlighted`, with loads of its own.
    public var highlight: ImageLayer { layers.image(.highlight) }

    /// Whether `highlight` is shown in place of the image; false by default. A highlight without content leaves the image.
    public var isHighlighted = false {
        didSet { layers.wanted = isHighlighted ? [.highlight, .image] : [.image] }
    }
}
