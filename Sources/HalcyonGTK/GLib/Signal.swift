import CGTK
import Halcyon

/// A signal handler, which lasts until it is disconnected or its object is destroyed.
package struct Signal {
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
    package init(_ object: UnsafeMutableRawPointer, _ name: String, _ body: @escaping @MainActor () -> Void) {
        self.init(object, name, unsafeBitCast(MainCall.now, to: GCallback.self), MainCall.pointer(to: body))
    }

    /// Calls a body on GTK's thread with the object that a signal carries.
    ///
    /// - Parameter name: the name of a signal whose only parameter is a pointer.
    @discardableResult
    package init(
        _ object: UnsafeMutableRawPointer, _ name: String,
        object body: @escaping @MainActor (UnsafeMutableRawPointer) -> Void
    ) {
        typealias Body = @MainActor (UnsafeMutableRawPointer) -> Void
        let call: @convention(c) (gpointer?, gpointer?) -> Void = { data, object in
            guard let body = Retained<Body>.value(behind: data) else { return }
            let address = UInt(bitPattern: object)
            MainActor.assumeIsolated { UnsafeMutableRawPointer(bitPattern: address).map(body) }
        }
        self.init(object, name, unsafeBitCast(call, to: GCallback.self), Retained<Body>.pointer(to: body))
    }

    /// Calls a body with the number that a signal carries, on the thread whose loop emits the signal.
    ///
    /// - Parameter name: the name of a signal whose only parameter is an `int`, an enumeration or a `gboolean`.
    @discardableResult
    package init(_ object: UnsafeMutableRawPointer, _ name: String, number body: @escaping @Sendable (Int32) -> Void) {
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

/// A value behind a pointer that C code holds until it is released with `Release`.
final class Retained<Value: Sendable>: Sendable {
    private let value: Value

    private init(_ value: Value) {
        self.value = value
    }

    /// Returns a pointer that retains a value.
    static func pointer(to value: Value) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(Retained(value)).toOpaque()
    }

    /// Returns the value behind a pointer of `pointer(to:)`; nil for a null pointer.
    static func value(behind data: UnsafeMutableRawPointer?) -> Value? {
        data.map { Unmanaged<Retained>.fromOpaque($0).takeUnretainedValue().value }
    }
}

/// Functions that release the object behind a pointer, with the signatures that GLib requires.
enum Release {
    static let destroy: @convention(c) (UnsafeMutableRawPointer?) -> Void = { data in
        if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
    }

    static let closure: GClosureNotify = { data, _ in Release.destroy(data) }
}

/// Functions that call closures behind pointers that C code holds, on GTK's thread.
enum MainCall {
    typealias Body = @MainActor () -> Void

    /// Returns a pointer for `now` or `later`, which `Release` releases.
    static func pointer(to body: @escaping Body) -> UnsafeMutableRawPointer { Retained<Body>.pointer(to: body) }

    /// Calls the closure at once.
    static let now: @convention(c) (UnsafeMutableRawPointer?) -> Void = { data in
        guard let body = Retained<Body>.value(behind: data) else { return }
        MainActor.assumeIsolated { body() }
    }

    /// Calls the closure soon, since nothing may change during a layout or a drawing.
    static let later: @convention(c) (UnsafeMutableRawPointer?) -> Void = { data in
        guard let body = Retained<Body>.value(behind: data) else { return }
        MainInbox.shared.add(body)
    }
}
