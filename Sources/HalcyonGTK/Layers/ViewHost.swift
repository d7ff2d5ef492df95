import CGTK
import CHalcyonGTK
import Halcyon

/// The widget that layers are drawn in: its size in pixels of the screen, whether it is seen, and the widgets over it.
@MainActor final class ViewHost {
    /// The place of the picture: an area of this object's own, or somebody else's `GtkPicture` or `GtkImage`.
    let area: UnsafeMutablePointer<GtkWidget>
    /// A `GtkOverlay` with the area in it, where the area is this object's own.
    let overlay: UnsafeMutablePointer<GtkWidget>?
    /// Called after a change of the size in pixels.
    var onResize: (@MainActor () -> Void)?
    /// Called when the view comes into sight, and when it goes.
    var onSeen: (@MainActor () -> Void)? {
        get { sight.onChange }
        set { sight.onChange = newValue }
    }
    /// Whether anything of it can be seen, as `ViewSight` knows it.
    var isSeen: Bool { sight.isSeen }
    /// The widget was destroyed while somebody still had this object.
    private(set) var isGone = false

    /// A size in pixels of the screen.
    struct Box {
        /// Nil before it is known.
        var pixels: PixelSize?
        /// Whether the picture is drawn larger than that.
        var isLarger = false
    }

    /// The size that images are fitted into, instead of that of the view, which is larger than what shows it; nil, the default,
    /// is the view.
    var box: Box?

    private let setPaintable: @MainActor (OpaquePointer?) -> Void
    /// Nil where nobody else can set it.
    private let getPaintable: (@MainActor () -> OpaquePointer?)?
    private var ownsOverlay = false
    private let sight: ViewSight
    private var signals: [Signal] = []
    private var hasLayout = false
    private var first: FrameTicks?
    /// The paintable that is drawn.
    private weak var paintable: ImagePaintable?
    private var isFreeWithoutArea = (width: false, height: false)
    /// The layers that show another size of what is about to be.
    private var standingIn: Set<ObjectIdentifier> = []
    /// The layers for which `sight` is watched.
    private var watching: Set<ObjectIdentifier> = []

    /// A host of its own: an area beneath whatever is laid over it.
    init() {
        let call = Resized()
        area = halcyon_area_new(MainCall.later, MainCall.pointer { call.host?.laidOut() }, Release.destroy)
        let (area, overlay) = (area, gtk_overlay_new())
        self.overlay = overlay
        gtk_overlay_set_child(OpaquePointer(overlay), area)
        g_object_ref_sink(overlay)
        ownsOverlay = true
        sight = ViewSight(area)
        setPaintable = { halcyon_area_set_paintable(OpaquePointer(area), $0) }
        getPaintable = nil
        call.host = self
        follow()
    }

    /// Somebody else's widget, which this object does not keep.
    ///
    /// - Parameters:
    ///   - paintable: what the widget shows.
    ///   - setPaintable: makes the widget show a paintable.
    init(
        _ widget: UnsafeMutablePointer<GtkWidget>, paintable: @escaping @MainActor () -> OpaquePointer?,
        setPaintable: @escaping @MainActor (OpaquePointer?) -> Void
    ) {
        area = widget
        overlay = nil
        sight = ViewSight(widget)
        self.setPaintable = setPaintable
        getPaintable = paintable
        hasLayout = gtk_widget_get_width(widget) > 0
        follow()
    }

    /// The target of the area's calls: it has the host only for as long as the view does.
    @MainActor private final class Resized {
        weak var host: ViewHost?
    }

    isolated deinit {
        first?.stop()
        if !isGone {
            sight.end()
            signals.end()
        }
        if ownsOverlay { g_object_unref(overlay) }
    }

    /// Hands its overlay over to whoever takes it next, as a widget that was just made.
    ///
    /// - Returns: false where it has none of its own (any more).
    func giveAway() -> Bool {
        guard ownsOverlay, let overlay else { return false }
        ownsOverlay = false
        g_object_force_floating(UnsafeMutableRawPointer(overlay).assumingMemoryBound(to: GObject.self))
        return true
    }

    /// Whether a paintable is still what is drawn, where it was shown before: a program may set another one on its widget.
    func isShowing(_ paintable: ImagePaintable?) -> Bool {
        guard !isGone, let getPaintable else { return true }
        return getPaintable() == paintable?.pointer
    }

    /// Draws this from now on.
    func show(_ paintable: ImagePaintable?) {
        guard !isGone else { return }
        self.paintable = paintable
        follow(with: paintable)
        setPaintable(paintable?.pointer)
        // The size of a widget that is somebody else's is known by the size in which it draws.
        if overlay == nil { paintable?.onDrawn { [weak self] in self?.laidOut() } }
    }

    /// Pixels of the screen for one unit.
    var scaleFactor: Int { isGone ? 1 : Int(gtk_widget_get_scale_factor(area)) }

    /// Pixels of the screen that images are loaded for; nil before the first layout, and where it has no room at all. A side that
    /// its parent makes as long as the image wants it is free: `Int.max`.
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

    /// Sides that are as long as the picture wants them.
    private var isFree: (width: Bool, height: Bool) {
        guard overlay != nil else { return isFreeWithoutArea }
        var (width, height): (gboolean, gboolean) = (0, 0)
        halcyon_area_get_free(OpaquePointer(area), &width, &height)
        return (width != 0, height != 0)
    }

    /// The same of somebody else's widget, which does not tell as much: what has no length without a picture, or just that of its
    /// picture from the start, for as long as it goes along.
    private func learnSides() {
        guard overlay == nil else { return }
        let natural = paintable?.pictureSize ?? (width: 0, height: 0)
        let goesAlong = (abs(size.width - natural.width) <= 1, abs(size.height - natural.height) <= 1)
        let isEmpty = (size.width == 0, size.height == 0)
        if !hasLayout {
            isFreeWithoutArea = goesAlong == (true, true) && !hasRequest ? (true, true) : isEmpty
        } else if natural == (0, 0) {
            isFreeWithoutArea = (isFreeWithoutArea.width || isEmpty.0, isFreeWithoutArea.height || isEmpty.1)
        } else {
            isFreeWithoutArea = (isFreeWithoutArea.width && goesAlong.0, isFreeWithoutArea.height && goesAlong.1)
        }
    }

    /// A program has said how large it is to be at least.
    private var hasRequest: Bool {
        var (width, height): (Int32, Int32) = (0, 0)
        gtk_widget_get_size_request(area, &width, &height)
        return width > 0 || height > 0
    }

    /// Whether what a layer shows is another size of what is about to be.
    func standsIn(for layer: ImageLayer, _ standsIn: Bool) {
        if standsIn { standingIn.insert(ObjectIdentifier(layer)) } else { standingIn.remove(ObjectIdentifier(layer)) }
        if overlay != nil, !isGone { halcyon_area_set_stands_in(OpaquePointer(area), standingIn.isEmpty ? 0 : 1) }
    }

    /// Has a paintable take the widget's colour and direction.
    func follow(with paintable: ImagePaintable?) {
        if !isGone { paintable?.follow(area) }
    }

    /// Whether it counts for a layer where in a viewport the view is.
    func watchSight(for layer: ImageLayer, _ isWatched: Bool) {
        if isWatched { watching.insert(ObjectIdentifier(layer)) } else { watching.remove(ObjectIdentifier(layer)) }
        if !isGone { sight.isWatched = !watching.isEmpty }
    }

    func setLabel(_ label: String?) {
        if !isGone { halcyon_set_label(area, label) }
    }

    /// The user's choice for the whole desktop.
    var isAnimationEnabled: Bool { !isGone && halcyon_animations_enabled(area) != 0 }

    func setBusy(_ isBusy: Bool) {
        if !isGone { halcyon_set_busy(area, isBusy ? 1 : 0) }
    }

    /// Lays a widget over the picture.
    ///
    /// - Returns: false where there is no room for one: the widget was not used.
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
        sight.end()
    }
}

// MARK: - What GTK tells

extension ViewHost {
    private func follow() {
        signals = [
            Signal(area, "notify::scale-factor") { [weak self] in self?.onResize?() },
            Signal(area, "destroy") { [weak self] in self?.destroyed() },
        ]
        // An area tells of each layout by itself.
        guard overlay == nil else { return }
        signals.append(Signal(area, "map") { [weak self] in self?.awaitLayout() })
        signals.append(Signal(area, "unmap") { [weak self] in self?.first?.stop() })
        if gtk_widget_get_mapped(area) != 0 { awaitLayout() }
    }

    private func laidOut() {
        guard !isGone else { return }
        learnSides()
        hasLayout = true
        sight.look()
        onResize?()
    }

    /// Counts frames: a widget that is laid out with no size is not drawn either, so nobody would tell.
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
