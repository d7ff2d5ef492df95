import CGTK

/// A closure that GObject calls, for as long as the object that it was connected to lives.
@MainActor final class Signal {
    private let body: @MainActor () -> Void

    private init(_ body: @escaping @MainActor () -> Void) {
        self.body = body
    }

    /// - Parameter name: of a signal without parameters.
    static func connect(
        _ object: UnsafeMutablePointer<GtkWidget>, _ name: String, _ body: @escaping @MainActor () -> Void
    ) {
        let call: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
            guard let data else { return }
            MainActor.assumeIsolated { Unmanaged<Signal>.fromOpaque(data).takeUnretainedValue().body() }
        }
        let forget: GClosureNotify = { data, _ in
            guard let data else { return }
            Unmanaged<Signal>.fromOpaque(data).release()
        }
        g_signal_connect_data(
            object, name, unsafeBitCast(call, to: GCallback.self), Unmanaged.passRetained(Signal(body)).toOpaque(),
            forget, GConnectFlags(rawValue: 0))
    }
}
