import CGTK
import Halcyon

/// A scrolling view that shows the picture of an `ImageView` as large as its user zooms it.
///
///     let zoomed = ZoomView()
///     zoomed.view.setImage(from: map)
///     zoomed.zoom = 2
///
/// However large the image is, and however far it is zoomed in, the whole of it is loaded only at the size of the window. Over
/// it, the visible part is decoded separately, for its size in pixels of the screen, once scrolling has rested for a tenth of a
/// second. Memory is a few windows of pixels, and the memory that the format needs to decode a part. A part that cannot be
/// loaded is left out, and tried again when scrolling rests the next time.
///
/// Animations, images that are processed or changed at delivery, and images with a size of their own in the request are shown
/// as they are. Each part reads the bytes of the file: those of a remote image should be in the disk cache
/// (`CacheLevels.diskOriginal`, as by default). Drawings are rendered with at most 16 million pixels for the whole.
///
/// The user zooms with Ctrl and the wheel or with two fingers, pans by dragging, and switches between the whole image and its
/// natural size by a double click (`isInteractive`).
///
/// The object owns its widget, and must be kept for as long as the widget is to show anything; so must its view.
@MainActor public final class ZoomView {
    /// The `GtkScrolledWindow`, to which this object holds a reference.
    public let widget: UnsafeMutablePointer<GtkWidget>
    /// The view that shows the picture; load images with it. Its `contentFit` is `.contain`.
    public let view: ImageView

    /// The units of the window for each pixel of the file, whatever `Image.scale` is: at 1, and a scale factor of 1, each pixel
    /// is one pixel of the screen. Nil, the default, fits the whole image into the window. The range is from 0.001 to 64; a
    /// value that is not finite becomes 1. A change keeps the centre of the visible part in place. The zoom stays for the next
    /// image, too.
    public var zoom: Double? {
        get { storedZoom }
        set { setZoom(newValue) }
    }

    /// Whether the user can zoom and pan with Ctrl and the wheel, two fingers, a double click and dragging; true by default.
    public var isInteractive = true

    /// Called when the zoom, the scroll position or the image has changed, or the visible part has become sharp.
    public var onChange: (@MainActor () -> Void)?

    let fixed: UnsafeMutablePointer<GtkWidget>
    /// The stored value of `zoom`.
    var storedZoom: Double?
    /// The target that loads the details.
    var detail: ImageTarget?
    /// The response that is shown, and the request and pipeline of its load.
    var shownImage: (response: ImageResponse, subject: ImageTarget.Subject)?
    /// The size in pixels of the zoomed picture; nil while a placeholder or nothing is shown.
    var pictureSize: PixelSize?
    /// The detail that is drawn from pixels of its own.
    var shownDetail: ZoomPlan.Detail?
    var detailTexture: ImageTexture?
    var requestedDetail: ZoomPlan.Detail?
    let sharpeningTimer = MainTimer()
    private var signals: [Signal] = []
    private var adjustments: [WatchedAdjustment] = []
    /// The viewport of the last layout.
    var lastViewport = (width: 0.0, height: 0.0)
    var lastFactor = 0
    var isScrolling = false
    var centerPixel: (x: Double, y: Double)?
    /// The pixel to bring to the centre once there is an image.
    var pendingCenter: (x: Double, y: Double)?

    /// - Parameter view: a view without a parent; a new one by default.
    public init(_ view: ImageView = ImageView()) {
        self.view = view
        // GTK returns a widget, or ends the program.
        guard let scrolled = gtk_scrolled_window_new(), let fixed = gtk_fixed_new() else {
            preconditionFailure("GTK could not create a widget")
        }
        (widget, self.fixed) = (scrolled, fixed)
        g_object_ref_sink(scrolled)
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), fixed)
        // Pictures have no text direction: with text from right to left, GTK would count positions from the right.
        if let viewport = gtk_widget_get_parent(fixed) { gtk_widget_set_direction(viewport, GTK_TEXT_DIR_LTR) }
        gtk_fixed_put(fixedPointer, view.widget, 0, 0)
        view.contentFit = .contain
        view.host.box = .init()
        view.onImageContent = { [weak self] in self?.contentChanged() }
        detail = ImageTarget { [weak self] content in self?.arrived(content) }
        for name in ["hadjustment", "vadjustment"] {
            signals.append(Signal(scrolled, "notify::\(name)") { [weak self] in self?.adjustmentsChanged() })
        }
        signals.append(Signal(scrolled, "notify::scale-factor") { [weak self] in self?.arrange() })
        signals.append(Signal(scrolled, "map") { [weak self] in self?.scheduleSharpening() })
        listenToGestures()
        adjustmentsChanged()
        // The view may show something already.
        contentChanged()
    }

    isolated deinit {
        sharpeningTimer.stop()
        view.onImageContent = nil
        view.host.box = nil
        if !view.host.isGone { gtk_widget_set_size_request(view.widget, -1, -1) }
        view.paintable.contentFit = view.contentFit
        view.paintable.showDetail(nil)
        signals.end()
        g_object_unref(widget)
    }

    private func adjustmentsChanged() {
        adjustments = [horizontal, vertical].map { adjustment in
            WatchedAdjustment(
                GObjectReference(keeping: UnsafeMutableRawPointer(adjustment)),
                onScroll: { [weak self] in self?.scrolled() },
                // Deferred, since no layout may be requested during a layout.
                onChange: { [weak self] in MainInbox.shared.add { self?.arrange() } })
        }
        arrange()
    }

    // MARK: - State

    /// The zoom that is shown, also while `zoom` is nil; nil while there is no image, and before the first layout.
    public var shownZoom: Double? { plan?.factor }

    /// The units for each pixel at which the whole image fits into the window; nil while there is no image, and before the
    /// first layout. It may be outside of the range of `zoom`.
    public var fittingZoom: Double? { plan(nil)?.factor }

    /// The visible part of the image, in pixels of the upright image at its full size; nil while there is no image, and before
    /// the first layout.
    public var visibleRegion: PixelRect? { plan?.region(at: scrollPosition) }

    /// Whether all of the visible part has as many pixels as the screen shows, or as the image has; for a drawing, as many as
    /// the limit allows. False while there is no image. For an animation or a processed image, true only if the whole image has
    /// enough pixels.
    public var isSharp: Bool {
        guard let plan, let image = view.content.image else { return false }
        return isSharp(image, plan) || shownDetail.map { plan.isEnough($0, at: scrollPosition) } ?? false
    }

    // MARK: - Changes

    /// Sets the zoom and keeps a point of the window in place, such as that of the pointer.
    ///
    /// - Parameter point: the point, in units from the top left of the window; nil, the default, is the centre.
    public func setZoom(_ zoom: Double?, around point: (x: Double, y: Double)? = nil) {
        let former = storedZoom
        storedZoom = zoom.map { $0.isFinite ? min(max($0, 0.001), 64) : 1 }
        guard storedZoom != former else { return }
        keepInPlace(point ?? (viewport.width / 2, viewport.height / 2), from: former)
        arrange()
        onChange?()
    }

    /// Brings a point of the image to the centre of the window, as far as the edges allow; while there is no image yet, once
    /// there is one.
    ///
    /// - Parameters:
    ///   - x: pixels of the upright image at its full size, as `y`. A value that is not finite becomes 0.
    public func center(x: Double, y: Double) {
        let pixel = (x: x.isFinite ? x : 0, y: y.isFinite ? y : 0)
        guard let plan else {
            pendingCenter = pixel
            return
        }
        let (across, down) = plan.scale
        centerContent(on: (plan.picture.x + pixel.x * across, plan.picture.y + pixel.y * down))
    }
}
