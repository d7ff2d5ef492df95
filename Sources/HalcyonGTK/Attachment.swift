import CGTK

/// An object that stays with a widget which something else has made.
@MainActor enum Attachment {
    /// The one that is there under a name, or the one that is made now.
    static func of<Object: AnyObject>(
        _ widget: UnsafeMutablePointer<GtkWidget>, key: String, make: () -> Object?
    ) -> Object? {
        let object = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GObject.self)
        if let data = g_object_get_data(object, key) { return Unmanaged<Object>.fromOpaque(data).takeUnretainedValue() }
        guard let made = make() else { return nil }
        g_object_set_data_full(object, key, Unmanaged.passRetained(made as AnyObject).toOpaque()) { data in
            if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
        }
        return made
    }
}
