import CGTK
import CHalcyonGTK
import Foundation
@_exported import Halcyon

/// Shows one image of a URL, still or animated, in a GTK window.
///
///     let view = ImageView()
///     gtk_window_set_child(window, view.widget)
///     view.setImage(from: url, placeholder: .image(grey), transition: .fade())
///
/// Images are loaded at the size of the view in pixels of its screen, unless a request has a size of its own: before the first
/// layout any size that is in memory is shown, and after a resize a larger image is asked for where the view has grown by a
/// quarter, once it has rested for 200 ms.
///
/// A `GtkPicture`, `GtkImage` or `GtkButton` that something else has made gets the same by `ImageView.of(_:)`.
///
/// The object has its widget, and must be kept for as long as that is to show anything, or told to stay with it. Animations
/// play while the view can be seen (mapped, not transparent, not scrolled away), and take neither time nor frames while it is not. Call
/// `GTKMainLoop.attach()` before GTK's loop runs.
@MainActor public class ImageView {
    /// Put it where any widget goes: a `GtkOverlay` that is kept by this object, or the widget that this was made for.
    public let widget: UnsafeMutablePointer<GtkWidget>

    /// What all of the members below are about; `background` and `highlight` are further ones.
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

    /// For a widget that something else has made; nil where it is none that can show an image.
    private init?(adopting widget: UnsafeMutablePointer<GtkWidget>) {
        guard let adopted = AdoptedWidget(widget) else { return nil }
        layers = ViewLayers(adopted.host, wanted: [.image], contentFit: adopted.contentFit)
        image = layers.image(.image)
        self.widget = widget
    }

    /// Called when something else is shown in one of its layers.
    var onContent: (@MainActor (ImageLayer) -> Void)? {
        get { layers.onContent }
        set { layers.onContent = newValue }
    }

    // MARK: - Whose it is

    /// The view of a `GtkPicture`, a `GtkImage` or a `GtkButton`, made at the first call, which stays with the widget; nil for
    /// any other widget. A button's takes the place of its child; nil for one that has an `ImageButton`.
    ///
    /// A picture and an image have no room for placeholders and indicators that are widgets; they are left out there.
    public static func of(_ widget: UnsafeMutablePointer<GtkWidget>) -> ImageView? {
        Attachment.of(widget) { ImageView(adopting: widget) }
    }

    /// Hands this object over to its widget, which keeps it until it is destroyed. For a widget that is about to get a
    /// parent: nobody else may have a reference to it.
    public func staysWithItsWidget() {
        guard layers.host.giveAway() else { return }
        Signal(widget, "destroy") { withExtendedLifetime(self) {} }
    }

    // MARK: - Loads

    /// Loads the image of a URL and shows it, instead of whatever was loading or shown.
    ///
    /// - Parameters:
    ///   - url: nil shows the placeholder and ends in `.failed`.
    ///   - indicator: shown while it loads; nil is the one before.
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
        image.setImage(
            from: url, placeholder: placeholder, indicator: indicator, transition: transition,
            keepsCurrent: keepsCurrent,
            failureImage: failureImage, processors: processors, pipeline: pipeline, completion: completion)
    }

    /// The same, with all that a request and the options can say.
    public func setImage(
        _ request: ImageRequest, options: ImageTarget.Options = .init(), pipeline: ImagePipeline = .shared,
        completion: (@MainActor (ImageTarget.End) -> Void)? = nil
    ) {
        image.setImage(request, options: options, pipeline: pipeline, completion: completion)
    }

    /// Shows an image that the program has, instead of whatever was loading or shown; nil shows nothing.
    public func showImage(_ image: Image?) { self.image.showImage(image) }

    /// Ends the load that is under way; what is seen stays.
    public func cancel() { image.cancel() }

    /// Loads what is shown or failed once more, from the server; what is shown stays meanwhile. Ends in `.cancelled` where
    /// there is nothing to load.
    public func reload(completion: (@MainActor (ImageTarget.End) -> Void)? = nil) {
        image.reload(completion: completion)
    }

    // MARK: - What is shown

    /// How far it is.
    public var state: ImageTarget.State { image.state }

    /// What is to be seen.
    public var content: ImageTarget.Content { image.content }

    /// Called when loading begins, goes on or ends.
    public var onStateChange: (@MainActor (ImageTarget.State) -> Void)? {
        get { image.onStateChange }
        set { image.onStateChange = newValue }
    }

    /// How urgent its loads are while it is seen; each request's own by default. Behind others while it is not.
    public var priority: RequestPriority? {
        get { image.priority }
        set { image.priority = newValue }
    }

    /// `.contain` by default. In a `GtkPicture` that something else has made it is the picture's to fit what it shows.
    public var contentFit: ContentFit {
        get { image.contentFit }
        set { image.contentFit = newValue }
    }

    /// The natural size in units while there is no image, so that a list keeps its place; none by default.
    public var sizeHint: (width: Int, height: Int)? {
        get { image.sizeHint }
        set { image.sizeHint = newValue }
    }

    /// What tells that an image is loading; nil, the default, is nothing. For the next load.
    public var loadingIndicator: Indicator? {
        get { image.loadingIndicator }
        set { image.loadingIndicator = newValue }
    }

    /// How animations are played; as their files say, by default. For the next image.
    public var playback: AnimatedImagePlayer.Configuration {
        get { image.playback }
        set { image.playback = newValue }
    }

    /// Whether an animation plays as soon as it is seen; true by default. For the next image.
    public var autoPlay: Bool {
        get { image.autoPlay }
        set { image.autoPlay = newValue }
    }

    /// Called when a loop of an animation is over, with the number of loops to come, nil for ever.
    public var onLoop: (@MainActor (Int?) -> Void)? {
        get { image.onLoop }
        set { image.onLoop = newValue }
    }

    /// Called when the last loop of an animation is over.
    public var onAnimationEnd: (@MainActor () -> Void)? {
        get { image.onAnimationEnd }
        set { image.onAnimationEnd = newValue }
    }

    /// Plays the animation that is shown; nil for a still image.
    public var player: AnimatedImagePlayer? { image.player }

    /// Whether an animation is playing now.
    public var isPlaying: Bool { player?.isPlaying ?? false }

    /// Goes on, or begins anew where it was over; once it is seen.
    public func play() { image.play() }

    /// Stands still.
    ///
    /// - Parameter rewinding: whether `play()` begins anew; false by default.
    public func stop(rewinding: Bool = false) { image.stop(rewinding: rewinding) }

    /// What a screen reader says that it shows; nil by default.
    public var accessibleLabel: String? {
        didSet { layers.host.setLabel(accessibleLabel) }
    }

    // MARK: - Roles

    /// Another picture beneath the image, with loads of its own.
    public var background: ImageLayer { layers.background(.image) }

    /// The picture that takes the place of the image while `isHighlighted`, with loads of its own.
    public var highlight: ImageLayer { layers.image(.highlight) }

    /// False by default.
    public var isHighlighted = false {
        didSet { layers.wanted = isHighlighted ? [.highlight, .image] : [.image] }
    }
}
