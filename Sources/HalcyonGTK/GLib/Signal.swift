import CGTK

/// A closure that GObject calls, until it is disconnected or the object that it was connected to goes.
struct Signal {
    private let object: UnsafeMutableRawPointer
    private let id: gulong

    /// - Parameters:
    ///   - name: of a signal that returns nothing.
    ///   - callback: a function of C, which is given the data first and then the signal's parameters.
    ///   - data: for `Release`.
    @discardableResult
    init(_ object: UnsafeMutableRawPointer, _ name: String, _ callback: GCallback, _ data: UnsafeMutableRawPointer) {
        self.object = object
        id = g_signal_connect_data(object, name, callback, data, Release.closure, G_CONNECT_SWAPPED)
    }

    /// - Parameter name: of a signal that returns nothing; the body is told none of its parameters, and runs on GTK's thread.
    @discardableResult
    init(_ object: UnsafeMutableRawPointer, _ name: String, _ body: @escaping MainCall.Body) {
        self.init(object, name, unsafeBitCast(MainCall.now, to: GCallback.self), MainCall.pointer(to: body))
    }

    /// Calls a body on whichever thread's loop tells of a signal of a number.
    ///
    /// - Parameter name: of a signal whose only parameter is an `int`, an enumeration or a `gboolean`.
    @discardableResult
    init(_ object: UnsafeMutableRawPointer, _ name: String, number body: @escaping @Sendable (Int32) -> Void) {
        typealias Body = @Sendable (Int32) -> Void
        let call: @convention(c) (gpointer?, gint) -> Void = { data, number in
            Retained<Body>.value(behind: data)?(number)
        }
        self.init(object, name, unsafeBitCast(call, to: GCallback.self), Retained<Body>.pointer(to: body))
    }

    /// The object must be there still.
    func disconnect() {
        g_signal_handler_disconnect(object, id)
    }
}

extension [Signal] {
    /// Disconnects all, and has none from then on.
    mutating func end() {
        let former = self
        self = []
        for signal in former { signal.disconnect() }
    }
}
