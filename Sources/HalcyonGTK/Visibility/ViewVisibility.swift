import CGTK
import Halcyon

/// The visibility of a widget: it can be seen if it is mapped, neither it nor any of its ancestors is fully transparent, and it
/// is not scrolled out of any viewport that it is in.
@MainActor final class ViewVisibility {
    /// Called after each change of `isVisible`.
    var onChange: (@MainActor () -> Void)?
    private(set) var isVisible = false
    /// Whether the widget's position in its viewports is checked regularly; false by default.
    var isWatched = false {
        didSet {
            guard isWatched != oldValue else { return }
            updateMonitoring()
            if isWatched { update() }
        }
    }

    private let widget: UnsafeMutablePointer<GtkWidget>
    private var signals: [Signal] = []
    /// The opacity signals of the widget and its ancestors, while the widget is mapped.
    private var opacities: [Signal] = []
    private var viewports: [Viewport] = []

    /// A viewport: a widget that shows a part of a larger child.
    private struct Viewport {
        let widget: UnsafeMutablePointer<GtkWidget>
        let adjustments: [WatchedAdjustment]
    }

    init(_ widget: UnsafeMutablePointer<GtkWidget>) {
        self.widget = widget
        signals = [
            Signal(widget, "map") { [weak self] in self?.mapped() },
            Signal(widget, "unmap") { [weak self] in self?.unmapped() },
        ]
        if gtk_widget_get_mapped(widget) != 0 { mapped() }
    }

    /// Stops following the widget, which must still exist; it counts as hidden from then on.
    func end() {
        signals.end()
        unfollowAncestry()
        set(false)
    }

    /// Updates `isVisible` from the current layout.
    func update() {
        set(
            gtk_widget_get_mapped(widget) != 0 && !isTransparent && !viewports.contains { isScrolledOut(of: $0.widget) }
        )
    }

    private func set(_ isVisible: Bool) {
        guard isVisible != self.isVisible else { return }
        self.isVisible = isVisible
        onChange?()
    }

    private func mapped() {
        for widget in ancestry {
            opacities.append(Signal(widget, "notify::opacity") { [weak self] in self?.update() })
            if isViewport(widget) { viewports.append(follow(widget)) }
        }
        updateMonitoring()
        update()
    }

    private func unmapped() {
        unfollowAncestry()
        update()
    }

    private func unfollowAncestry() {
        opacities.end()
        viewports = []
        VisibilityMonitor.shared.remove(self)
    }

    private func updateMonitoring() {
        if isWatched, !viewports.isEmpty {
            VisibilityMonitor.shared.add(self)
        } else {
            VisibilityMonitor.shared.remove(self)
        }
    }

    private func isViewport(_ widget: UnsafeMutablePointer<GtkWidget>) -> Bool {
        let instance = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GTypeInstance.self)
        return g_type_check_instance_is_a(instance, gtk_viewport_get_type()) != 0
    }

    private func follow(_ viewport: UnsafeMutablePointer<GtkWidget>) -> Viewport {
        let scrollable = OpaquePointer(viewport)
        let adjustments = [gtk_scrollable_get_hadjustment(scrollable), gtk_scrollable_get_vadjustment(scrollable)]
        return Viewport(
            widget: viewport,
            adjustments: adjustments.compactMap { adjustment in
                guard let adjustment else { return nil }
                let kept = GObjectReference(keeping: UnsafeMutableRawPointer(adjustment))
                return WatchedAdjustment(kept, onScroll: { VisibilityMonitor.shared.scrolled() })
            })
    }

    private var isTransparent: Bool { ancestry.contains { gtk_widget_get_opacity($0) <= 0 } }

    /// The widget and its ancestors.
    private var ancestry: some Sequence<UnsafeMutablePointer<GtkWidget>> {
        sequence(first: widget) { gtk_widget_get_parent($0) }
    }

    /// Whether the widget lies outside of the part that a viewport shows. Before the first layout nothing has a size, and the
    /// result is false.
    private func isScrolledOut(of viewport: UnsafeMutablePointer<GtkWidget>) -> Bool {
        var bounds = graphene_rect_t()
        guard gtk_widget_compute_bounds(widget, viewport, &bounds) != 0 else { return false }
        let (width, height) = (Float(gtk_widget_get_width(viewport)), Float(gtk_widget_get_height(viewport)))
        return isOutside(bounds.origin.x, bounds.size.width, width)
            || isOutside(bounds.origin.y, bounds.size.height, height)
    }

    private func isOutside(_ start: Float, _ length: Float, _ page: Float) -> Bool {
        length > 0 && page > 0 && (start + length <= 0 || start >= page)
    }
}

/// A timer that has the views in viewports check whether they are visible: soon after a scroll, once that is laid out, and
/// every half second, since not every change of position emits a signal.
///
/// There is one timer for all views, and none while no watched view is mapped in a viewport.
@MainActor final class VisibilityMonitor {
    static let shared = VisibilityMonitor()

    private struct Weak {
        weak var visibility: ViewVisibility?
    }

    private var views: [ObjectIdentifier: Weak] = [:]
    private let timer = MainTimer()
    private var isSoon = false

    func add(_ visibility: ViewVisibility) {
        views[ObjectIdentifier(visibility)] = Weak(visibility: visibility)
        scrolled()
    }

    func remove(_ visibility: ViewVisibility) {
        guard views.removeValue(forKey: ObjectIdentifier(visibility)) != nil, views.isEmpty else { return }
        timer.stop()
        isSoon = false
    }

    /// Schedules a check in 50 ms, one for all calls until then.
    func scrolled() {
        guard !isSoon, !views.isEmpty else { return }
        isSoon = true
        timer.start(after: .milliseconds(50)) { [weak self] in self?.update() }
    }

    private func update() {
        isSoon = false
        for weak in Array(views.values) { weak.visibility?.update() }
        // A notified view may have scrolled, or removed the last view.
        guard !isSoon, !views.isEmpty else { return }
        timer.start(after: .milliseconds(500)) { [weak self] in self?.update() }
    }
}
