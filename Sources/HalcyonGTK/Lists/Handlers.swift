import CGTK

/// Handlers of some objects' signals, until they are ended.
@MainActor final class Handlers {
    private final class Body {
        let run: @MainActor () -> Void

        init(_ run: @escaping @MainActor () -> Void) {
            self.run = run
        }
    }

    private var connected: [(object: UnsafeMutableRawPointer, id: gulong)] = []

    /// - Parameters:
    ///   - object: lives until `end()`.
    ///   - name: of a signal that returns nothing; the body is told none of its parameters.
    func connect(_ object: UnsafeMutableRawPointer, _ name: String, _ body: @escaping @MainActor () -> Void) {
        // Swapped, the data comes first, and what comes behind it may stay unread.
        let call: @convention(c) (gpointer?) -> Void = { data in
            guard let data else { return }
            // The handler may be ended in there.
            let body = Unmanaged<Body>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { body.run() }
        }
        let forget: GClosureNotify = { data, _ in
            guard let data else { return }
            Unmanaged<Body>.fromOpaque(data).release()
        }
        connected.append(
            (
                object,
                g_signal_connect_data(
                    object, name, unsafeBitCast(call, to: GCallback.self),
                    Unmanaged.passRetained(Body(body)).toOpaque(), forget, G_CONNECT_SWAPPED)
            ))
    }

    func end() {
        let former = connected
        connected = []
        for (object, id) in former { g_signal_handler_disconnect(object, id) }
    }
}
