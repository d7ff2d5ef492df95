import CGTK

/// A detector of minimised windows of an application.
@MainActor enum MinimizedWindows {
    /// Calls a body each time that a window is minimised, for as long as the application lives; never if it is not a
    /// `GtkApplication`.
    static func follow(_ application: UnsafeMutablePointer<GApplication>, _ body: @escaping MainCall.Body) {
        let instance = UnsafeMutableRawPointer(application).assumingMemoryBound(to: GTypeInstance.self)
        guard g_type_check_instance_is_a(instance, gtk_application_get_type()) != 0 else { return }
        Signal(application, "window-added", unsafeBitCast(added, to: GCallback.self), MainCall.pointer(to: body))
        for window in windows(of: application) { watch(window, body) }
    }

    private static let added: @convention(c) (gpointer?, gpointer?) -> Void = { data, window in
        guard let body = Retained<MainCall.Body>.value(behind: data) else { return }
        let address = UInt(bitPattern: window)
        MainActor.assumeIsolated {
            if let window = UnsafeMutablePointer<GtkWidget>(bitPattern: address) { watch(window, body) }
        }
    }

    private static func windows(
        of application: UnsafeMutablePointer<GApplication>
    ) -> [UnsafeMutablePointer<GtkWidget>] {
        let application = UnsafeMutableRawPointer(application).assumingMemoryBound(to: GtkApplication.self)
        let first = gtk_application_get_windows(application)
        return sequence(first: first) { $0?.pointee.next }.compactMap {
            $0?.pointee.data.assumingMemoryBound(to: GtkWidget.self)
        }
    }

    private static func watch(_ window: UnsafeMutablePointer<GtkWidget>, _ body: @escaping MainCall.Body) {
        // A window has a surface once it is realized, and another one each time.
        Signal(window, "realize") { watchSurface(of: window, body) }
        if gtk_widget_get_realized(window) != 0 { watchSurface(of: window, body) }
    }

    private static func watchSurface(of window: UnsafeMutablePointer<GtkWidget>, _ body: @escaping MainCall.Body) {
        guard let surface = gtk_native_get_surface(OpaquePointer(window)) else { return }
        var wasMinimized = false
        Signal(UnsafeMutableRawPointer(surface), "notify::state") {
            let state = gdk_toplevel_get_state(surface)
            let isMinimized = state.rawValue & GDK_TOPLEVEL_STATE_MINIMIZED.rawValue != 0
            defer { wasMinimized = isMinimized }
            if isMinimized, !wasMinimized { body() }
        }
    }
}
