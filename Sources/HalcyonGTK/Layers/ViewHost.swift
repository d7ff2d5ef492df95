import CGTK
import CHalcyonGTK
import Halcyon

/// The widget that layers are drawn in, with its size in pixels of the screen, its visibility, and the widgets over it.
@MainActor final class ViewHost {
    /// The widget that draws the picture: an area that this object created, or a `GtkPicture` or `GtkImage` of the program.
    let area: UnsafeMutablePointer<GtkWidget>
    /// The `GtkOverlay` that contains the area; nil if the area is a widget of the program.
    let overlay: UnsafeMutablePointer<GtkWidget>?
    /// Called after a change of the size in pixels.
    var onResize: (@MainActor () -> Void)?
    /// Called when the view becomes visible or hidden.
    var onVisibilityChange: (@MainActor () -> Void)? {
        get { visibility.onChange }
        set { visibility.onChange = newValue }
    }
    /// Whether any part of the view can be seen, as `ViewVisibility` determines it.
    var isVisible: Bool { visibility.isVisible }
    /// Whether the widget was destroyed while this object was still in use.
    private(set) var isGone = false

    /// A size in pixels of the screen.
    struct Box {
        /// The size; nil before it is known.
        var pixels: PixelSize?
        /// Whether the picture is drawn larger than `pixels`.
        var isLarger = false
    }

    /// The size that images are fitted into in place of the size of the view, for a view that is larger than the window that
    /// shows it; nil, the default, is the size of the view.
    var box: Box?

    private let setPaintable: @MainActor (OpaquePointer?) -> Void
    /// Returns the widget's paintable; nil if only this object can set it.
    private let getPaintable: (@MainActor () -> OpaquePointer?)?
    private var ownsOverlay = false
    private let visibility: ViewVisibility
    private var signals: [Signal] = []
    private var hasLayout = false
    private var first: FrameTicks?
    /// The paintable that is drawn.
    private weak var paintable: ImagePaintable?
    private var isFreeWithoutArea = (width: false, height: false)
    /// The layers that show a stand-in: the same image at another size until the right one is loaded.
    private var standingIn: Set<ObjectIdentifier> = []
    /// The layers for which `visibility` is watched.
    private var watching: Set<ObjectIdentifier> = []

    /// Creates a host with its own widgets: an area beneath the widgets that are laid over it.
    init() {
        let call = Resized()
        area = halcyon_area_new(MainCall.later, MainCall.pointer { call.host?.laidOut() }, Release.destroy)
        let (area, overlay) = (area, gtk_overlay_new())
        self.overlay = overlay
        gtk_overlay_set_child(OpaquePointer(overlay), area)
        g_object_ref_sink(overlay)
        ownsOverlay = true
        visibility = ViewVisibility(area)
        setPaintable = { halcyon_area_set_paintable(OpaquePointer(area), $0) }
        getPaintable = nil
        call.host = self
        follow()
    }

    /// Creates a host for a widget of the program, to which it holds no reference.
    ///
    /// - Parameters:
    ///   - paintable: returns the paintable that the widget shows.
    ///   - setPaintable: makes the widget show a paintable.
    init(
        _ widget: UnsafeMutablePointer<GtkWidget>, paintable: @escaping @MainActor () -> OpaquePointer?,
        setPaintable: @escaping @MainActor (OpaquePointer?) -> Void
    ) {
        area = widget
        overlay = nil
        visibility = ViewVisibility(widget)
        self.setPaintable = setPaintable
        getPaintable = paintable
        hasLayout = gtk_widget_get_width(widget) > 0
        follow()
    }

    /// The receiver of the area's calls, with a weak reference to the host: the area must not keep the host alive.
    @MainActor private final class Resized {
        weak var host: ViewHost?
    }

    isolated deinit {
        first?.stop()
        if !isGone {
            visibility.end()
            signals.end()
        }
        if ownsOverlay { g_object_unref(overlay) }
    }

    /// Makes the overlay's reference floating, as of a new widget, so that the next owner takes it.
    ///
    /// - Returns: false if this object does not own an overlay (any more).
    func giveAway() -> Bool {
        guard ownsOverlay, let overlay else { return false }
        ownsOverlay = false
        g_object_force_floating(UnsafeMutableRawPointer(overlay).assumingMemoryBound(to: GObject.self))
        return true
    }

    /// Whether a paintable that was shown is still drawn: a program may set another one on its widget.
    func isShowing(_ paintable: ImagePaintable?) -> Bool {
        guard !isGone, let getPaintable else { return true }
        return getPaintable() == paintable?.pointer
    }

    /// Draws a paintable from now on.
    func show(_ paintable: ImagePaintable?) {
        guard !isGone else { return }
        self.paintable = paintable
        follow(with: paintable)
        setPaintable(paintable?.pointer)
        // The size of the program's widget is only known from the size that its paintable is drawn in.
        if overlay == nil { paintable?.onDrawn { [weak self] in self?.laidOut() } }
    }

    /// The number of screen pixels for one unit.
    var scaleFactor: Int { isGone ? 1 : Int(gtk_widget_get_scale_factor(area)) }

    /// The size in pixels of the screen that images are loaded for; nil before the first layout, and if there is no room at
    /// all. A side whose length the parent takes from the image is free: `Int.max`.
    var pixels: PixelSize? {
        if let box { return box.pixels }
        guard hasLayout, !isGone else { return nil }
        let isFree = isFree
        let width = isFree.width ? .max : size.width * scaleFactor,
            height = isFree.height ? .max : size.height * scaleFactor
        return width > 0 && height > 0 ? PixelSize(width, height) : nil
    }

    private var size: (width: Int, height: Int) {
        (Int(gtk_widget_get_width(area)), Int(gtk_widget_get_height(area)))
    }

    /// The sides whose length follows that of the picture.
    private var isFree: (width: Bool, height: Bool) {
        guard overlay != nil else { return isFreeWithoutArea }
        var (width, height): (gboolean, gboolean) = (0, 0)
        halcyon_area_get_free(OpaquePointer(area), &width, &height)
        return (width != 0, height != 0)
    }

    /// Estimates the free sides of a widget of the program, which GTK does not report: a side is free if it has no length
    /// without a picture, or has exactly the picture's from the start, until its length differs from the picture's.
    private func learnSides() {
        guard overlay == nil else { return }
        let natural = paintable?.pictureSize ?? (width: 0, height: 0)
        let followsPicture = (abs(size.width - natural.width) <= 1, abs(size.height - natural.height) <= 1)
        let isEmpty = (size.width == 0, size.height == 0)
        if !hasLayout {
            isFreeWithoutArea = followsPicture == (true, true) && !hasRequest ? (true, true) : isEmpty
        } else if natural == (0, 0) {
            isFreeWithoutArea = (isFreeWithoutArea.width || isEmpty.0, isFreeWithoutArea.height || isEmpty.1)
        } else {
            isFreeWithoutArea = (
                isFreeWithoutArea.width && followsPicture.0, isFreeWithoutArea.height && followsPicture.1
            )
        }
    }

    /// Whether the program has set a minimum size.
    private var hasRequest: Bool {
        var (width, height): (Int32, Int32) = (0, 0)
        gtk_widget_get_size_request(area, &width, &height)
        return width > 0 || height > 0
    }

    /// Notes whether a layer shows a stand-in, the same image at another size until the right one is loaded.
    func setStandIn(_ isStandIn: Bool, for layer: ImageLayer) {
        if isStandIn { standingIn.insert(ObjectIdentifier(layer)) } else { standingIn.remove(ObjectIdentifier(layer)) }
        if overlay != nil, !isGone { halcyon_area_set_stands_in(OpaquePointer(area), standingIn.isEmpty ? 0 : 1) }
    }

    /// Makes a paintable follow the colour and the text direction of the widget.
    func follow(with paintable: ImagePaintable?) {
        if !isGone { paintable?.follow(area) }
    }

    /// Notes whether a layer needs the view's position in its viewports.
    func setWatched(_ isWatched: Bool, for layer: ImageLayer) {
        if isWatched { watching.insert(ObjectIdentifier(layer)) } else { watching.remove(ObjectIdentifier(layer)) }
        if !isGone { visibility.isWatched = !watching.isEmpty }
    }

    func setLabel(_ label: String?) {
        if !isGone { halcyon_set_label(area, label) }
    }

    /// Whether the desktop's setting allows animations.
    var isAnimationEnabled: Bool { !isGone && halcyon_animations_enabled(area) != 0 }

    func setBusy(_ isBusy: Bool) {
        if !isGone { halcyon_set_busy(area, isBusy ? 1 : 0) }
    }

    /// Lays a widget over the picture.
    ///
    /// - Returns: the widget; nil if there is no room for one, without a call of `make`.
    func lay(_ make: () -> UnsafeMutablePointer<GtkWidget>) -> UnsafeMutablePointer<GtkWidget>? {
        guard let overlay, !isGone else { return nil }
        let widget = make()
        gtk_overlay_add_overlay(OpaquePointer(overlay), widget)
        return widget
    }

    func remove(_ widget: UnsafeMutablePointer<GtkWidget>) {
        if let overlay, !isGone { gtk_overlay_remove_overlay(OpaquePointer(overlay), widget) }
    }

    private func destroyed() {
        isGone = true
        first?.stop()
        first = nil
        visibility.end()
    }
}

// MARK: - Signals of GTK

extension ViewHost {
    private func follow() {
        // A program whose main actor does not run would wait for its images without a word.
        GTKMainLoop.attach()
        signals = [
            Signal(area, "notify::scale-factor") { [weak self] in self?.onResize?() },
            Signal(area, "destroy") { [weak self] in self?.destroyed() },
        ]
        // An area reports each layout itself.
        guard overlay == nil else { return }
        signals.append(Signal(area, "map") { [weak self] in self?.awaitLayout() })
        signals.append(Signal(area, "unmap") { [weak self] in self?.first?.stop() })
        if gtk_widget_get_mapped(area) != 0 { awaitLayout() }
    }

    private func laidOut() {
        guard !isGone else { return }
        learnSides()
        hasLayout = true
        visibility.update()
        onResize?()
    }

    /// Counts two frames, then takes the layout as done: a widget that is laid out with no size is never drawn, so nothing else
    /// would report it.
    private func awaitLayout() {
        guard !hasLayout else { return }
        var frames = 0
        let ticks = FrameTicks(area) { [weak self] _ in
            frames += 1
            // The first tick comes before the layout of its frame.
            if frames == 2 { self?.laidOut() }
            return frames < 2
        }
        ticks.start()
        first = ticks
    }
}
