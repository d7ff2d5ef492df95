import CGTK
import Halcyon

/// Shows the picture of an `ImageView` as large as its user wants it, in a window that scrolls.
///
///     let zoomed = ZoomView()
///     zoomed.view.setImage(from: map)
///     zoomed.zoom = 2
///
/// However large the image is, and however far it is zoomed in, the whole of it is loaded for the size of the window alone. In
/// its place the part that is seen is decoded by itself, for the pixels that it has on the screen, once scrolling has rested
/// for a tenth of a second. Memory is a few windows of pixels, and what the format needs to decode a part. A part that cannot
/// be loaded is left out, and tried again where scrolling rests the next time.
///
/// Animations, images that are processed or changed at delivery, and those with a size of their own in the request are shown as
/// they are. For each part the bytes of the file are asked for: of a remote image they should be on the disk
/// (`CachePolicy.Levels.diskOriginal`, as by default). Drawings are as sharp as 16 million pixels for the whole make them.
///
/// Its user zooms with the wheel and Ctrl or with two fingers, moves what is seen by dragging, and changes between the whole
/// and the natural size by a double click (`isInteractive`).
///
/// The object has its widget, and must be kept for as long as that is to show anything, as its view must. Call
/// `GTKMainLoop.attach()` before GTK's loop runs.
@MainActor public final class ZoomView {
    /// A `GtkScrolledWindow`, kept by this object.
    public let widget: UnsafeMutablePointer<GtkWidget>
    /// What shows the picture; load images by it. Its `contentFit` is `.contain`.
    public let view: ImageView

    /// Units of the window for each pixel of the file, whatever `Image.scale` is: at 1, and a scale factor of 1, a pixel is one
    /// of the screen. Nil, the default, fits the whole of it into the window. At least a thousandth and at most 64; what is not
    /// finite is 1. The middle of what is seen stays there. It stays for the next image, too.
    public var zoom: Double? {
        get { chosen }
        set { setZoom(newValue) }
    }

    /// Whether the wheel with Ctrl, two fingers, a double click and dragging zoom and move; true by default.
    public var isInteractive = true

    /// Called when the zoom, the place or the image has changed, or what is seen has become sharp.
    public var onChange: (@MainActor () -> Void)?

    let fixed: UnsafeMutablePointer<GtkWidget>
    /// What `zoom` is.
    var chosen: Double?
    /// Loads parts.
    var detail: ImageTarget?
    /// The image that is seen, and how it was asked for.
    var seen: (response: ImageResponse, subject: ImageTarget.Subject)?
    /// In pixels, that of what is zoomed; nil where a placeholder or nothing is seen.
    var pictureSize: PixelSize?
    /// The part that is drawn from pixels of its own.
    var shown: ZoomPlan.Detail?
    var texture: ImageTexture?
    var asked: ZoomPlan.Detail?
    let resting = MainTimer()
    private var signals: [Signal] = []
    private var adjustments: [WatchedAdjustment] = []
    /// The viewport that was last laid out for, and the pixel of the image in its middle.
    var lastViewport = (width: 0.0, height: 0.0)
    var lastFactor = 0
    var isScrolling = false
    var middle: (x: Double, y: Double)?
    /// The pixel that is to be in the middle once there is an image.
    var awaited: (x: Double, y: Double)?

    /// - Parameter view: one without a parent; a new one by default.
    public init(_ view: ImageView = ImageView()) {
        self.view = view
        // GTK gives a widget, or ends the program.
        guard let scrolled = gtk_scrolled_window_new(), let fixed = gtk_fixed_new() else {
            preconditionFailure("GTK could not create a widget")
        }
        (widget, self.fixed) = (scrolled, fixed)
        g_object_ref_sink(scrolled)
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), fixed)
        // Pictures have no direction: where text runs from the right, GTK would count places from there.
        if let viewport = gtk_widget_get_parent(fixed) { gtk_widget_set_direction(viewport, GTK_TEXT_DIR_LTR) }
        gtk_fixed_put(fixedPointer, view.widget, 0, 0)
        view.contentFit = .contain
        view.image.host.box = .init()
        view.onContent = { [weak self] in self?.contentChanged($0) }
        detail = ImageTarget { [weak self] content in self?.arrived(content) }
        for name in ["hadjustment", "vadjustment"] {
            signals.append(Signal(scrolled, "notify::\(name)") { [weak self] in self?.adjustmentsChanged() })
        }
        signals.append(Signal(scrolled, "notify::scale-factor") { [weak self] in self?.arrange() })
        signals.append(Signal(scrolled, "map") { [weak self] in self?.rest() })
        listenToGestures()
        adjustmentsChanged()
        // It may show something already.
        contentChanged(view.image)
    }

    isolated deinit {
        resting.stop()
        view.onContent = nil
        view.image.host.box = nil
        if !view.image.host.isGone { gtk_widget_set_size_request(view.widget, -1, -1) }
        view.image.paintable.contentFit = view.contentFit
        view.image.paintable.showDetail(nil)
        signals.end()
        g_object_unref(widget)
    }

    private func adjustmentsChanged() {
        adjustments = [horizontal, vertical].map { adjustment in
            WatchedAdjustment(
                GObjectReference(keeping: UnsafeMutableRawPointer(adjustment)),
                onScroll: { [weak self] in self?.scrolled() },
                // In the middle of a layout nothing may be laid out anew.
                onChange: { [weak self] in MainInbox.shared.add { self?.arrange() } })
        }
        arrange()
    }

    // MARK: - Its state

    /// The `zoom` that is seen, also where `zoom` is nil; nil while there is no image, and before the first layout.
    public var shownZoom: Double? { plan?.factor }

    /// Units for each pixel with which the whole of the image fits into the window; nil while there is none, and before the first
    /// layout. It may be outside of what `zoom` can be.
    public var fittingZoom: Double? { plan(nil)?.factor }

    /// The part of the image that is seen, in the pixels of the upright image at its full size; nil while there is none, and
    /// before the first layout.
    public var visibleRegion: PixelRect? { plan?.region(at: place) }

    /// Whether all that is seen has as many pixels as the screen shows, or as the image has; for a drawing, as many as it is
    /// given. Never true of what is not there, and of an animation or a processed image only where the whole is.
    public var isSharp: Bool {
        guard let plan, let image = view.content.image else { return false }
        return isSharp(image, plan) || shown.map { plan.isEnough($0, at: place) } ?? false
    }

    // MARK: - Changes

    /// Sets the zoom so that a place of the window stays where it is, as the pointer's.
    ///
    /// - Parameter place: units from the top left of the window; nil, the default, is its middle.
    public func setZoom(_ zoom: Double?, around place: (x: Double, y: Double)? = nil) {
        let former = chosen
        chosen = zoom.map { $0.isFinite ? min(max($0, 0.001), 64) : 1 }
        guard chosen != former else { return }
        keep(place ?? (viewport.width / 2, viewport.height / 2), from: former)
        arrange()
        onChange?()
    }

    /// Brings a place of the image to the middle of the window, as far as that can be; while there is none yet, once there is.
    ///
    /// - Parameters:
    ///   - x: pixels of the upright image at its full size, as `y`. What is not finite is its start.
    public func center(x: Double, y: Double) {
        let pixel = (x: x.isFinite ? x : 0, y: y.isFinite ? y : 0)
        guard let plan else {
            awaited = pixel
            return
        }
        let (across, down) = plan.scale
        go(to: (plan.picture.x + pixel.x * across, plan.picture.y + pixel.y * down))
    }
}
