import CGTK

/// A closure that GObject calls, until it is disconnected or the object that it was connected to goes.
@MainActor struct Signal {
    private let object: UnsafeMutablePointer<GtkWidget>
    private let id: gulong

    /// - Parameter name: of a signal without parameters, or with one, such as `notify`, that is left out.
    init(_ object: UnsafeMutablePointer<GtkWidget>, _ name: String, _ body: @escaping @MainActor () -> Void) {
        let forget: GClosureNotify = { data, _ in MainCall.release(data) }
        let callback: GCallback
        let hasParameter = name.hasPrefix("notify::") || name == "state-flags-changed"
        if hasParameter {
            // A `GParamSpec` or flags, in a register like a pointer.
            let call: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, _, data in MainCall.now(data) }
            callback = unsafeBitCast(call, to: GCallback.self)
        } else {
            let call: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in MainCall.now(data) }
            callback = unsafeBitCast(call, to: GCallback.self)
        }
        self.object = object
        id = g_signal_connect_data(
            object, name, callback, MainCall(body).retained, forget, GConnectFlags(rawValue: 0))
    }

    /// The object must be there still.
    func disconnect() {
        g_signal_handler_disconnect(object, id)
    }
}
