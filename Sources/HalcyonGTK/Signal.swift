import CGTK

/// A closure that GObject calls, until it is disconnected or the object that it was connected to goes.
@MainActor struct Signal {
    private let object: UnsafeMutableRawPointer
    private let id: gulong

    /// - Parameter name: of a signal that returns nothing; the body is told none of its parameters.
    init(_ object: UnsafeMutableRawPointer, _ name: String, _ body: @escaping @MainActor () -> Void) {
        self.object = object
        let forget: GClosureNotify = { data, _ in MainCall.release(data) }
        // Swapped, the data comes first, and what comes behind it may stay unread.
        id = g_signal_connect_data(
            object, name, unsafeBitCast(MainCall.now, to: GCallback.self), MainCall(body).retained, forget,
            G_CONNECT_SWAPPED)
    }

    /// The object must be there still.
    func disconnect() {
        g_signal_handler_disconnect(object, id)
    }
}

extension [Signal] {
    /// Disconnects all, and has none from then on.
    @MainActor mutating func end() {
        let former = self
        self = []
        for signal in former { signal.disconnect() }
    }
}
