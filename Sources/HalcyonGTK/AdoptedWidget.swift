import CGTK
import CHalcyonGTK

/// How a widget that something else has made shows a view's picture.
@MainActor struct AdoptedWidget {
    let host: ViewHost
    let contentFit: ContentFit

    /// Nil for a widget of another kind.
    init?(_ widget: UnsafeMutablePointer<GtkWidget>) {
        let pointer = OpaquePointer(widget)
        switch halcyon_widget_kind(widget) {
        case HALCYON_WIDGET_PICTURE:
            // The picture gives its paintable just the room that the image is to fill.
            contentFit = .fill
            host = ViewHost(widget) {
                gtk_picture_get_paintable(pointer)
            } setPaintable: {
                gtk_picture_set_paintable(pointer, $0)
            }
        case HALCYON_WIDGET_IMAGE:
            contentFit = .contain
            host = ViewHost(widget) {
                gtk_image_get_paintable(pointer)
            } setPaintable: {
                gtk_image_set_from_paintable(pointer, $0)
            }
        case HALCYON_WIDGET_BUTTON:
            contentFit = .contain
            host = ViewHost()
            gtk_button_set_child(UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkButton.self), host.overlay)
        default: return nil
        }
    }
}
