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
/// `attachToWidget()`. Animations play while the view can be seen (mapped, not transparent, not scrolled away), and use
/// neither processor time nor frames while it cannot.
@MainActor public class ImageView: ImageLayer {
    /// The widget to put into the window: a `GtkOverlay` to which this object holds a reference, or the widget that the view
    /// was created for.
    public let widget: UnsafeMutablePointer<GtkWidget>

    /// This layer and the others of the widget.
    private let layers: ViewLayers<Role>

    private enum Role: Hashable {
        case image, highlight
    }

    /// Called when the content of the view's own image has changed, after it was chosen for the widget.
    var onImageContent: (@MainActor () -> Void)?

    /// Creates a view with a widget of its own, which has no parent yet.
    public init() {
        let host = ViewHost()
        widget = host.overlay ?? host.area
        layers = ViewLayers(host, wanted: [.image])
        super.init(host)
        layers.add(owner: self, as: .image)
        Attachment.note(self, on: widget)
    }

    /// Creates the view of a widget that the program created; nil if the widget cannot show an image.
    private init?(adopting widget: UnsafeMutablePointer<GtkWidget>) {
        guard let adopted = AdoptedWidget(widget) else { return nil }
        self.widget = widget
        layers = ViewLayers(adopted.host, wanted: [.image], contentFit: adopted.contentFit)
        super.init(adopted.host)
        layers.add(owner: self, as: .image)
    }

    override func contentChanged() {
        super.contentChanged()
        onImageContent?()
    }

    // MARK: - Ownership

    /// Returns the view of a widget: of an `ImageView`'s own, of a `GtkPicture`, a `GtkImage` or a `GtkButton`. Returns nil for
    /// any other widget, and for a button that has an `ImageButton`.
    ///
    /// For a picture, an image and a button that the program created, the first call creates the view, which stays with the
    /// widget; that of a button replaces the button's child. The cell of a list so needs no other place for its view.
    ///
    /// A `GtkPicture` and a `GtkImage` have no room for placeholders and indicators that are widgets; these are not shown
    /// there.
    public static func of(_ widget: UnsafeMutablePointer<GtkWidget>) -> ImageView? {
        Attachment.of(widget) { ImageView(adopting: widget) }
    }

    /// Transfers this object to its widget, which keeps it until the widget is destroyed. For a widget that is about to get a
    /// parent: nothing else may hold a reference to it.
    public func attachToWidget() {
        guard host.giveAway() else { return }
        Signal(widget, "destroy") { withExtendedLifetime(self) {} }
    }

    // MARK: - Accessibility and further layers

    /// The text that a screen reader gives for the image; nil by default.
    public var accessibleLabel: String? {
        didSet { host.setLabel(accessibleLabel) }
    }

    /// The layer of another picture beneath the image, with loads of its own.
    public var background: ImageLayer { layers.background(.image) }

    /// The layer of the picture that replaces the image while `isHighlighted`, with loads of its own.
    public var highlight: ImageLayer { layers.image(.highlight) }

    /// Whether `highlight` is shown in place of the image; false by default. A highlight without content leaves the image.
    public var isHighlighted = false {
        didSet { layers.wanted = isHighlighted ? [.highlight, .image] : [.image] }
    }
}

/// An `ImageView` with the playback settings of an animation as properties.
///
///     let view = AnimatedImageView()
///     view.repeatCount = .once
///     view.setImage(from: url)
///
/// Any `ImageView` plays animations. These properties take effect with the next image.
@MainActor public final class AnimatedImageView: ImageView {
    /// The number of loops; the file's own by default.
    public var repeatCount: RepeatCount {
        get { playback.repeatCount }
        set { playback.repeatCount = newValue }
    }

    /// The number of frames that are decoded before they are due, within the budget of the process; 10 by default.
    public var framePreloadCount: Int {
        get { playback.framePreloadCount }
        set { playback.framePreloadCount = newValue }
    }

    /// Whether frames are decoded on Halcyon's own threads; true by default. If false, they are decoded on GTK's thread.
    public var backgroundDecode: Bool {
        get { playback.backgroundDecode }
        set { playback.backgroundDecode = newValue }
    }

    /// The processor that is applied to each decoded frame; nil by default.
    public var transformer: (any ImageProcessor)? {
        get { playback.transformer }
        set { playback.transformer = newValue }
    }
}
