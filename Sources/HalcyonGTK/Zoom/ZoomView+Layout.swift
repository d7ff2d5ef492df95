import CGTK
import Halcyon

// The layout and the scroll position of the picture.
extension ZoomView {
    var horizontal: UnsafeMutablePointer<GtkAdjustment> { gtk_scrolled_window_get_hadjustment(OpaquePointer(widget)) }

    var vertical: UnsafeMutablePointer<GtkAdjustment> { gtk_scrolled_window_get_vadjustment(OpaquePointer(widget)) }

    var fixedPointer: UnsafeMutablePointer<GtkFixed> {
        UnsafeMutableRawPointer(fixed).assumingMemoryBound(to: GtkFixed.self)
    }

    var viewport: (width: Double, height: Double) {
        (gtk_adjustment_get_page_size(horizontal), gtk_adjustment_get_page_size(vertical))
    }

    var scrollPosition: (x: Double, y: Double) {
        (gtk_adjustment_get_value(horizontal), gtk_adjustment_get_value(vertical))
    }

    var factor: Int { Int(gtk_widget_get_scale_factor(widget)) }

    /// The current layout; nil before there is an image and a layout of the widget.
    var plan: ZoomPlan? { plan(storedZoom) }

    func plan(_ zoom: Double?) -> ZoomPlan? {
        guard let pictureSize, viewport.width > 0, viewport.height > 0 else { return nil }
        return ZoomPlan(
            viewport: viewport, image: pictureSize, zoom: zoom, scaleFactor: factor,
            isDrawing: shownImage?.response.image.info.isVector ?? false)
    }

    /// Scrolls so that a point of the window shows the same pixel as at the former zoom.
    func keepInPlace(_ point: (x: Double, y: Double), from former: Double?) {
        guard let old = plan(former), let new = plan else { return }
        let (from, to) = (old.scale, new.scale)
        scroll(
            to: (
                new.picture.x + (scrollPosition.x + point.x - old.picture.x) * to.x / from.x - point.x,
                new.picture.y + (scrollPosition.y + point.y - old.picture.y) * to.y / from.y - point.y
            ))
    }

    /// Scrolls a point of the content to the centre.
    func centerContent(on point: (x: Double, y: Double)) {
        scroll(to: (point.x - viewport.width / 2, point.y - viewport.height / 2))
    }

    /// Scrolls to a position that may be laid out only with the next frame: sets the adjustments' bounds to what they will be
    /// by then.
    func scroll(to position: (x: Double, y: Double)) {
        guard let frame = plan?.picture, !isScrolling else { return }
        isScrolling = true
        set(horizontal, position.x, upper: frame.x + frame.width)
        set(vertical, position.y, upper: frame.y + frame.height)
        isScrolling = false
        scrolled()
    }

    private func set(_ adjustment: UnsafeMutablePointer<GtkAdjustment>, _ value: Double, upper: Double) {
        let page = gtk_adjustment_get_page_size(adjustment)
        let upper = max(page, upper)
        gtk_adjustment_configure(
            adjustment, min(max(0, value), upper - page), 0, upper, gtk_adjustment_get_step_increment(adjustment),
            gtk_adjustment_get_page_increment(adjustment), page)
    }

    func scrolled() {
        // No report while only one axis is set. A layout that shrinks the window also moves the scroll position: `centerPixel` keeps
        // the former value, and `arrange`, which comes next, reports the change.
        guard !isScrolling, viewport == lastViewport else { return }
        if let plan {
            let (across, down) = plan.scale
            centerPixel = (
                (scrollPosition.x + viewport.width / 2 - plan.picture.x) / across,
                (scrollPosition.y + viewport.height / 2 - plan.picture.y) / down
            )
        }
        scheduleSharpening()
        onChange?()
    }

    /// Lays the picture out for the current size of the window.
    func arrange() {
        let (width, height) = viewport
        guard width > 0, height > 0 else { return }
        layOut(width, height)
        let isResized = lastViewport != (width, height) || lastFactor != factor
        (lastViewport, lastFactor) = ((width, height), factor)
        if plan != nil, let pendingCenter {
            self.pendingCenter = nil
            center(x: pendingCenter.x, y: pendingCenter.y)
        } else if isResized, storedZoom != nil, let centerPixel {
            center(x: centerPixel.x, y: centerPixel.y)
        } else if isResized {
            onChange?()
        }
        scheduleSharpening()
    }

    private func layOut(_ width: Double, _ height: Double) {
        let pixels = PixelSize(Int(width) * factor, Int(height) * factor)
        if view.host.box?.pixels != pixels {
            view.host.box?.pixels = pixels
            // A load that waits for a size starts, and may show its image at once.
            view.host.onResize?()
        }
        let plan = plan
        let frame = plan?.picture ?? .init(x: 0, y: 0, width: width.rounded(.down), height: height.rounded(.down))
        let isLarger = frame.width > width + 1 || frame.height > height + 1
        view.host.box?.isLarger = isLarger
        // The frame has the file's aspect ratio; the reduced whole image has it only nearly, so it is stretched.
        view.paintable.contentFit = plan == nil ? .contain : .fill
        // `gtk_fixed_move` causes a new layout even if the position is the same.
        var (x, y) = (0.0, 0.0)
        gtk_fixed_get_child_position(fixedPointer, view.widget, &x, &y)
        if (x, y) != (frame.x, frame.y) { gtk_fixed_move(fixedPointer, view.widget, frame.x, frame.y) }
        gtk_widget_set_size_request(view.widget, Int32(clamping: Int(frame.width)), Int32(clamping: Int(frame.height)))
    }
}
