import CGTK

/// A signal handler, which lasts until it is disconnected or its object is destroyed.
struct Signal {
    private let object: UnsafeMutableRawPointer
    private let id: gulong

    /// - Parameters:
    ///   - name: the name of a signal without a return value.
    ///   - callback: a C function that takes the data first and then the signal's parameters.
    ///   - data: a retained pointer, released with `Release`.
    @discardableResult
    init(_ object: UnsafeMutableRawPointer, _ name: String, _ callback: GCallback, _ data: UnsafeMutableRawPointer) {
        self.object = object
        id = g_signal_connect_data(object, name, callback, data, Release.closure, G_CONNECT_SWAPPED)
    }

    /// - Parameter name: the name of a signal without a return value. The body receives none of its parameters, and runs on
    ///   GTK's thread.
    @discardableResult
    init(_ object: UnsafeMutableRawPointer, _ name: String, _ body: @escaping MainCall.Body) {
        self.init(object, name, unsafeBitCast(MainCall.now, to: GCallback.self), MainCall.pointer(to: body))
    }

    /// Calls a body with the number that a signal carries, on the thread whose loop emits the signal.
    ///
    /// - Parameter name: the name of a signal whose only parameter is an `int`, an enumeration or a `gboolean`.
    @discardableResult
    init(_ object: UnsafeMutableRawPointer, _ name: String, number body: @escaping @Sendable (Int32) -> Void) {
        typealias Body = @Sendable (Int32) -> Void
        let call: @convention(c) (gpointer?, gint) -> Void = { data, number in
            Retained<Body>.value(behind: data)?(number)
        }
        self.init(object, name, unsafeBitCast(call, to: GCallback.self), Retained<Body>.pointer(to: body))
    }

    /// Disconnects the handler. The object must still exist.
    func disconnect() {
        g_signal_handler_disconnect(object, id)
    }
}

extension [Signal] {
    /// Disconnects all handlers and empties the array.
    mutating func end() {
        let former = self
        self = []
        for signal in former { signal.disconnect() }
    }
}
