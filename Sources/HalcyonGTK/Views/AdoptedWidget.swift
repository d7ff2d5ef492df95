import CGTK
import CHalcyonGTK

/// The host and the default fit for a widget that the program created.
@MainActor struct AdoptedWidget {
    let host: ViewHost
    let contentFit: ContentFit

    /// Returns nil for an unsupported kind of widget.
    init?(_ widget: UnsafeMutablePointer<GtkWidget>) {
        let pointer = OpaquePointer(widget)
        switch halcyon_widget_kind(widget) {
        case HALCYON_WIDGET_PICTURE:
            // `GtkPicture` gives its paintable exactly the room that the image is to fill.
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

/// The object of this module that is attached to a widget that the program created: at most one for each widget.
@MainActor enum Attachment {
    private static let key = "halcyon-attachment"

    /// Returns the attached object, or attaches the one that `make` returns; nil if an object of another type is attached.
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
