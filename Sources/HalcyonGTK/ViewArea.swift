import CGTK
import CHalcyonGTK
import Halcyon

/// The widget that draws a view's paintable, and its size.
@MainActor final class ViewArea {
    let widget: UnsafeMutablePointer<GtkWidget>
    /// In units; nil before the first layout.
    private(set) var size: (width: Int, height: Int)?
    /// Called after a layout in which the size has changed.
    var onResize: (@MainActor () -> Void)?

    /// What the widget keeps: the area only for as long as its view does.
    private final class Link: @unchecked Sendable {
        // Read and written on GTK's thread alone.
        weak var area: ViewArea?
    }

    init(_ paintable: ImagePaintable) {
        let link = Link()
        widget = halcyon_area_new(
            paintable.pointer,
            { data, width, height in
                guard let data else { return }
                let link = Unmanaged<Link>.fromOpaque(data).takeUnretainedValue()
                // The layout goes on: what comes of it waits until it is done.
                MainInbox.shared.add { link.area?.resized(Int(width), Int(height)) }
            }, Unmanaged.passRetained(link).toOpaque(),
            { data in
                if let data { Unmanaged<Link>.fromOpaque(data).release() }
            })
        g_object_ref_sink(widget)
        link.area = self
    }

    isolated deinit {
        g_object_unref(widget)
    }

    /// Pixels of the screen that it covers; nil before the first layout. A side that its parent makes as long as the image
    /// wants it is 0 without one, and free here: `Int.max`.
    var pixels: PixelSize? {
        guard let size else { return nil }
        let factor = Int(gtk_widget_get_scale_factor(widget))
        return PixelSize(
            size.width > 0 ? size.width * factor : .max, size.height > 0 ? size.height * factor : .max)
    }

    private func resized(_ width: Int, _ height: Int) {
        size = (width, height)
        onResize?()
    }
}
