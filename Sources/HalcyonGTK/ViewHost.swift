import CGTK
import CHalcyonGTK
import Halcyon

/// The widget that layers are drawn in: its size in pixels of the screen, whether it is seen, and the widgets over it.
@MainActor final class ViewHost {
    /// Where the picture is: an area of this object's own, or somebody else's `GtkPicture` or `GtkImage`.
    let area: UnsafeMutablePointer<GtkWidget>
    /// A `GtkOverlay` with the area in it, where the area is this object's own.
    let overlay: UnsafeMutablePointer<GtkWidget>?
    /// Called after a change of the size in pixels.
    var onResize: (@MainActor () -> Void)?
    /// Called when the view comes into sight, and when it goes.
    var onSeen: (@MainActor () -> Void)?
    /// Mapped, and neither it nor anything around it is fully transparent.
    private(set) var isSeen = false
    /// The widget was destroyed while somebody still had this object.
    private(set) var isGone = false

    private let setPaintable: @MainActor (OpaquePointer?) -> Void
    private var ownsOverlay = false
    private var signals: [Signal] = []
    /// Of the widgets around it, for as long as it is mapped.
    private var opacities: [Signal] = []
    private var hasLayout = false
    private var first: FrameTicks?

    /// A host of its own: an area beneath whatever is laid over it.
    init() {
        let call = Resized()
        area = halcyon_area_new(MainCall.later, MainCall { call.host?.laidOut() }.retained, MainCall.release)
        let (area, overlay) = (area, gtk_overlay_new())
        self.overlay = overlay
        gtk_overlay_set_child(OpaquePointer(overlay), area)
        g_object_ref_sink(overlay)
        ownsOverlay = true
        setPaintable = { halcyon_area_set_paintable(OpaquePointer(area), $0) }
        call.host = self
        follow()
    }

    /// Somebody else's widget, which this object does not keep.
    ///
    /// - Parameter setPaintable: makes the widget show a paintable.
    init(_ widget: UnsafeMutablePointer<GtkWidget>, setPaintable: @escaping @MainActor (OpaquePointer?) -> Void) {
        area = widget
        overlay = nil
        self.setPaintable = setPaintable
        hasLayout = gtk_widget_get_width(widget) > 0
        follow()
    }

    /// What the area calls: the host only for as long as its view has it.
    @MainActor private final class Resized {
        weak var host: ViewHost?
    }

    isolated deinit {
        first?.stop()
        guard !isGone else { return }
        opacities.end()
        signals.end()
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

    /// What is drawn from now on.
    func show(_ paintable: ImagePaintable?) {
        guard !isGone else { return }
        paintable?.follow(area)
        setPaintable(paintable?.pointer)
        // The size of a widget that is somebody else's is known by the size in which it draws.
        if overlay == nil { paintable?.onDrawn { [weak self] in self?.laidOut() } }
    }

    /// Pixels of the screen for one unit.
    var scaleFactor: Int { isGone ? 1 : Int(gtk_widget_get_scale_factor(area)) }

    /// Pixels of the screen that it covers; nil before the first layout. A side that its parent makes as long as the image
    /// wants it is 0 without one, and free here: `Int.max`.
    var pixels: PixelSize? {
        guard hasLayout, !isGone else { return nil }
        let (width, height) = (Int(gtk_widget_get_width(area)), Int(gtk_widget_get_height(area)))
        return PixelSize(width > 0 ? width * scaleFactor : .max, height > 0 ? height * scaleFactor : .max)
    }

    /// What the user has chosen for the whole desktop.
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
        look()
    }
}

// MARK: - What GTK tells

extension ViewHost {
    private func follow() {
        signals = [
            Signal(area, "map") { [weak self] in self?.mapped() },
            Signal(area, "unmap") { [weak self] in self?.unmapped() },
            Signal(area, "notify::scale-factor") { [weak self] in self?.onResize?() },
            Signal(area, "destroy") { [weak self] in self?.destroyed() },
        ]
        if gtk_widget_get_mapped(area) != 0 { mapped() }
    }

    private func laidOut() {
        guard !isGone else { return }
        hasLayout = true
        onResize?()
    }

    private func mapped() {
        var widget: UnsafeMutablePointer<GtkWidget>? = area
        while let current = widget {
            opacities.append(Signal(current, "notify::opacity") { [weak self] in self?.look() })
            widget = gtk_widget_get_parent(current)
        }
        if overlay == nil, !hasLayout { awaitLayout() }
        look()
    }

    private func unmapped() {
        opacities.end()
        first?.stop()
        look()
    }

    /// What is laid out with no size at all is not drawn either, so nobody would tell.
    private func awaitLayout() {
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

    private func look() {
        let isSeen = !isGone && gtk_widget_get_mapped(area) != 0 && !isTransparent
        guard isSeen != self.isSeen else { return }
        self.isSeen = isSeen
        onSeen?()
    }

    private var isTransparent: Bool {
        var widget: UnsafeMutablePointer<GtkWidget>? = area
        while let current = widget {
            if gtk_widget_get_opacity(current) <= 0 { return true }
            widget = gtk_widget_get_parent(current)
        }
        return false
    }
}
