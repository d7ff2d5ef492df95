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
/// for a tenth of a second. Memory is a few windows of pixels, and what the format needs to decode a part.
///
/// Animations, images that are processed or changed at delivery, and those with a size of their own or other sources in the
/// request are shown as they are. For each part the bytes of the file are asked for: of a remote image they should be on the
/// disk (`CachePolicy.Levels.diskOriginal`, as by default).
@MainActor public final class ZoomView {
    /// A `GtkScrolledWindow`, kept by this object.
    public let widget: UnsafeMutablePointer<GtkWidget>
    /// What shows the picture; load images by it. Its `contentFit` is `.contain`.
    public let view: ImageView

    /// Units for each pixel of the image: 1 is its natural size. Nil, the default, fits the whole of it into the window. At
    /// least a thousandth and at most 64; the middle of what is seen stays there.
    public var zoom: Double? {
        didSet {
            zoom = zoom.map { $0.isFinite ? min(max($0, 0.001), 64) : 1 }
            guard zoom != oldValue else { return }
            keepMiddle(from: oldValue)
            arrange()
        }
    }

    private let fixed: UnsafeMutablePointer<GtkWidget>
    /// Loads parts.
    private var detail: ImageTarget?
    /// The image that is seen, and how it was asked for.
    private var seen: (response: ImageResponse, wish: ViewSizing.Wish)?
    /// The part that is drawn from pixels of its own.
    private(set) var shown: ZoomPlan.Detail?
    private var asked: ZoomPlan.Detail?
    private let resting = MainTimer()
    private var signals: [(GObjectReference, Signal)] = []
    /// Where it is to be scrolled, once the layout reaches as far.
    private var goal: (x: Double, y: Double)?

    /// - Parameter view: one without a parent; a new one by default.
    public init(_ view: ImageView = ImageView()) {
        self.view = view
        // GTK gives a widget, or ends the program.
        guard let scrolled = gtk_scrolled_window_new(), let fixed = gtk_fixed_new() else {
            preconditionFailure("GTK makes no widgets")
        }
        (widget, self.fixed) = (scrolled, fixed)
        g_object_ref_sink(scrolled)
        gtk_scrolled_window_set_child(OpaquePointer(scrolled), fixed)
        // Pictures have no direction: where text runs from the right, GTK would count places from there.
        if let viewport = gtk_widget_get_parent(fixed) { gtk_widget_set_direction(viewport, GTK_TEXT_DIR_LTR) }
        gtk_fixed_put(fixedPointer, view.widget, 0, 0)
        view.contentFit = .contain
        view.image.sizing.box = .init()
        view.onContent = { [weak self] in self?.contentChanged() }
        detail = ImageTarget { [weak self] content in self?.arrived(content) }
        for adjustment in [horizontal, vertical] {
            let kept = GObjectReference(keeping: UnsafeMutableRawPointer(adjustment))
            signals.append((kept, Signal(kept.raw, "value-changed") { [weak self] in self?.rest() }))
            // In the middle of a layout nothing may be laid out anew.
            let changed = { @MainActor [weak self] in MainInbox.shared.add { self?.arrange() } }
            signals.append((kept, Signal(kept.raw, "changed") { changed() }))
        }
        let kept = GObjectReference(keeping: UnsafeMutableRawPointer(scrolled))
        signals.append((kept, Signal(kept.raw, "notify::scale-factor") { [weak self] in self?.arrange() }))
    }

    isolated deinit {
        resting.stop()
        view.onContent = nil
        view.image.sizing.box = nil
        for (_, signal) in signals { signal.disconnect() }
        g_object_unref(widget)
    }

    /// Units for each pixel of the image that is shown; nil while there is none.
    public var shownZoom: Double? { plan?.factor }

    /// The `zoom` with which the whole of the image fits into the window; nil while there is none.
    public var fittingZoom: Double? { plan(nil)?.factor }

    /// Brings a place of the image, in its pixels, to the middle of the window, as far as that can be. Nothing where there is
    /// no image yet.
    public func center(x: Double, y: Double) {
        guard let plan else { return }
        go(to: (plan.picture.x + x * plan.factor, plan.picture.y + y * plan.factor))
    }

    /// Whether all that is seen has as many pixels as the screen shows, or as the image has.
    public var isSharp: Bool {
        guard goal == nil, let plan, let seen else { return false }
        if isSharp(seen.response.image, plan) { return true }
        return shown.map { plan.isEnough($0, at: place) } ?? false
    }
}

// MARK: - Places

extension ZoomView {
    private var horizontal: UnsafeMutablePointer<GtkAdjustment> {
        gtk_scrolled_window_get_hadjustment(OpaquePointer(widget))
    }

    private var vertical: UnsafeMutablePointer<GtkAdjustment> {
        gtk_scrolled_window_get_vadjustment(OpaquePointer(widget))
    }

    private var fixedPointer: UnsafeMutablePointer<GtkFixed> {
        UnsafeMutableRawPointer(fixed).assumingMemoryBound(to: GtkFixed.self)
    }

    private var viewport: (width: Double, height: Double) {
        (gtk_adjustment_get_page_size(horizontal), gtk_adjustment_get_page_size(vertical))
    }

    private var place: (x: Double, y: Double) {
        (gtk_adjustment_get_value(horizontal), gtk_adjustment_get_value(vertical))
    }

    private var factor: Int { Int(gtk_widget_get_scale_factor(widget)) }

    /// Nil before there is an image, or a layout.
    private var plan: ZoomPlan? { plan(zoom) }

    private func plan(_ zoom: Double?) -> ZoomPlan? {
        guard let image = view.content.image, viewport.width > 0, viewport.height > 0 else { return nil }
        return ZoomPlan(viewport: viewport, image: Self.size(of: image), zoom: zoom, scaleFactor: factor)
    }

    /// That of the file, where the image is the whole of it, reduced.
    private static func size(of image: Image) -> PixelSize {
        let (whole, size) = (image.info.size, image.size)
        let difference = abs(Double(whole.width) * Double(size.height) - Double(whole.height) * Double(size.width))
        return difference <= Double(max(whole.width, whole.height)) ? whole : size
    }

    private func keepMiddle(from former: Double?) {
        guard let old = plan(former), let new = plan else { return }
        let from = goal ?? place
        let middle = (x: from.x + viewport.width / 2, y: from.y + viewport.height / 2)
        let ratio = new.factor / old.factor
        go(to: (new.picture.x + (middle.x - old.picture.x) * ratio, new.picture.y + (middle.y - old.picture.y) * ratio))
    }

    private func go(to middle: (x: Double, y: Double)) {
        goal = (middle.x - viewport.width / 2, middle.y - viewport.height / 2)
        reach()
        rest()
    }

    /// Scrolls to the goal; once more after the layout, while what is laid out is smaller than the picture.
    private func reach() {
        guard let (x, y) = goal, let plan else { return }
        gtk_adjustment_set_value(horizontal, x)
        gtk_adjustment_set_value(vertical, y)
        let (width, height) = (gtk_adjustment_get_upper(horizontal), gtk_adjustment_get_upper(vertical))
        if width >= plan.picture.width, height >= plan.picture.height { goal = nil }
    }

    private func arrange() {
        let (width, height) = viewport
        guard width > 0, height > 0 else { return }
        let pixels = PixelSize(Int(width) * factor, Int(height) * factor)
        if view.image.sizing.box?.pixels != pixels {
            view.image.sizing.box?.pixels = pixels
            // A load that waits for a size begins.
            view.image.resized()
        }
        let frame = plan?.picture ?? .init(x: 0, y: 0, width: width.rounded(.down), height: height.rounded(.down))
        gtk_fixed_move(fixedPointer, view.widget, frame.x, frame.y)
        gtk_widget_set_size_request(
            view.widget, Int32(clamping: Int(frame.width)), Int32(clamping: Int(frame.height)))
        reach()
        rest()
    }
}

// MARK: - What is seen

extension ZoomView {
    private func contentChanged() {
        let former = seen
        seen = nil
        if case .image(let response) = view.content, let wish = view.image.sizing.wish { seen = (response, wish) }
        if former?.response.source != seen?.response.source { goal = nil }
        // The view draws nothing of the former one any more.
        (shown, asked) = (nil, nil)
        detail?.clear()
        arrange()
    }

    private func rest() {
        resting.start(after: .milliseconds(100)) { [weak self] in self?.sharpen() }
    }

    private func isSharp(_ image: Image, _ plan: ZoomPlan) -> Bool {
        let isWide = plan.image.width >= plan.image.height
        return isWide
            ? plan.isSharp(image.width, of: plan.image.width) : plan.isSharp(image.height, of: plan.image.height)
    }

    /// Loads the part that is seen, where the whole is not sharp enough.
    private func sharpen() {
        guard let plan, let seen, hasParts(seen.response, seen.wish), !isSharp(seen.response.image, plan) else {
            return
        }
        if let shown, plan.isEnough(shown, at: place) {
            asked = nil
            detail?.cancel()
            return
        }
        guard let wanted = plan.detail(at: place), wanted != asked else { return }
        asked = wanted
        var request = seen.wish.request
        request.decode.region = wanted.region
        request.decode.target = TargetSize(wanted.target, mode: .stretch)
        request.wantsPreviews = false
        // Just this part is hardly asked for again: it is to drive nothing out.
        request.cache.writes.subtract([.memory, .memoryOriginal, .diskProcessed])
        detail?.setImage(request, options: .init(keepsCurrent: true), pipeline: seen.wish.pipeline) { [weak self] end in
            // Once more where it rests the next time.
            if case .failed = end, self?.asked == wanted { self?.asked = nil }
        }
    }

    /// Whether a part of the image looks as it does in the whole.
    private func hasParts(_ response: ImageResponse, _ wish: ViewSizing.Wish) -> Bool {
        let request = wish.pipeline.configuration.defaults.applied(to: wish.request)
        return view.player == nil && request.processors.isEmpty && request.modifier == nil
            && request.decode.target == nil && request.decode.region == nil && response.source == request.source
    }

    /// The part is there, and takes its place before anything else is drawn.
    private func arrived(_ content: ImageTarget.Content) {
        guard case .image(let response) = content, let asked, let seen else { return }
        let (region, whole) = (asked.region, Self.size(of: seen.response.image))
        (shown, self.asked) = (asked, nil)
        let (across, down) = (1 / Float(whole.width), 1 / Float(whole.height))
        let place = graphene_rect_t(
            origin: graphene_point_t(x: Float(region.x) * across, y: Float(region.y) * down),
            size: graphene_size_t(width: Float(region.size.width) * across, height: Float(region.size.height) * down))
        view.image.paintable.showDetail(ImageTexture(response.image.bitmap), at: place)
        // It may have been scrolled on meanwhile.
        rest()
    }
}
