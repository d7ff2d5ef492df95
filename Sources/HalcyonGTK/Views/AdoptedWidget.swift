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

/// The object of this module that stays with a widget which something else has made: one at most for each.
@MainActor enum Attachment {
    private static let key = "halcyon-attachment"

    /// The one that is there, or the one that is made now; nil where one of another kind is there.
    static func of<Object: AnyObject>(
        _ widget: UnsafeMutablePointer<GtkWidget>, make: () -> Object?
    ) -> Object? {
        let object = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GObject.self)
        if let data = g_object_get_data(object, key) {
            return Unmanaged<AnyObject>.fromOpaque(data).takeUnretainedValue() as? Object
        }
        guard let made = make() else { return nil }
        g_object_set_data_full(object, key, Unmanaged.passRetained(made as AnyObject).toOpaque(), Release.destroy)
        return made
    }
}
