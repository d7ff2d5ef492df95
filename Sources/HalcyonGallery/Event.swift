import CGTK

/// A closure that handles a GObject signal, for as long as the object lives.
@MainActor final class Event {
    private let body: @MainActor (UnsafeMutableRawPointer?) -> Void

    private init(_ body: @escaping @MainActor (UnsafeMutableRawPointer?) -> Void) {
        self.body = body
    }

    /// Connects a closure to a signal without parameters.
    static func on(_ object: Widget, _ name: String, _ body: @escaping @MainActor () -> Void) {
        on(raw: UnsafeMutableRawPointer(object), name, body)
    }

    static func on(raw object: UnsafeMutableRawPointer, _ name: String, _ body: @escaping @MainActor () -> Void) {
        let call: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in Event.call(data, nil) }
        connect(object, name, unsafeBitCast(call, to: GCallback.self), Event { _ in body() })
    }

    /// Connects a closure to a signal with one parameter, which is a pointer or a number in place of one.
    static func on(
        raw object: UnsafeMutableRawPointer, _ name: String,
        with body: @escaping @MainActor (UnsafeMutableRawPointer?) -> Void
    ) {
        let call: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, value, data in Event.call(data, value)
        }
        connect(object, name, unsafeBitCast(call, to: GCallback.self), Event(body))
    }

    private static func connect(
        _ object: UnsafeMutableRawPointer, _ name: String, _ callback: GCallback, _ event: Event
    ) {
        let forget: GClosureNotify = { data, _ in
            if let data { Unmanaged<Event>.fromOpaque(data).release() }
        }
        g_signal_connect_data(
            object, name, callback, Unmanaged.passRetained(event).toOpaque(), forget, GConnectFlags(rawValue: 0))
    }

    private nonisolated static func call(_ data: gpointer?, _ value: gpointer?) {
        guard let data else { return }
        let event = Unmanaged<Event>.fromOpaque(data).takeUnretainedValue()
        let value = UInt(bitPattern: value)
        MainActor.assumeIsolated { event.body(UnsafeMutableRawPointer(bitPattern: value)) }
    }
}
