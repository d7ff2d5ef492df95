import CGTK

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
