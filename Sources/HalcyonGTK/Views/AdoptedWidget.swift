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

/// The object of this module that belongs to a widget: at most one for each widget.
@MainActor enum Attachment {
    private static let key = "halcyon-attachment"

    /// The object of a widget, which keeps it alive only if the widget is the program's.
    private final class Link {
        weak var object: AnyObject?
        private let kept: AnyObject?

        init(_ object: AnyObject, isKept: Bool) {
            self.object = object
            kept = isKept ? object : nil
        }
    }

    /// Returns the attached object, or attaches the one that `make` returns; nil if an object of another type is attached.
    static func of<Object: AnyObject>(
        _ widget: UnsafeMutablePointer<GtkWidget>, make: () -> Object?
    ) -> Object? {
        let data = g_object_get_data(gObject(widget), key)
        if let attached = data.flatMap({ Unmanaged<Link>.fromOpaque($0).takeUnretainedValue().object }) {
            return attached as? Object
        }
        guard let made = make() else { return nil }
        link(made, to: widget, isKept: true)
        return made
    }

    /// Lets `of` find an object from its own widget, which does not keep it alive.
    static func note(_ object: AnyObject, on widget: UnsafeMutablePointer<GtkWidget>) {
        link(object, to: widget, isKept: false)
    }

    private static func link(_ object: AnyObject, to widget: UnsafeMutablePointer<GtkWidget>, isKept: Bool) {
        let link = Unmanaged.passRetained(Link(object, isKept: isKept) as AnyObject)
        g_object_set_data_full(gObject(widget), key, link.toOpaque(), Release.destroy)
    }

    private static func gObject(_ widget: UnsafeMutablePointer<GtkWidget>) -> UnsafeMutablePointer<GObject> {
        UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GObject.self)
    }
}
