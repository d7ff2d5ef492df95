import CGTK

/// A closure for a signal of one number, for as long as the object lives that it was connected to.
///
/// For objects of the whole program, whose signals come on whichever thread's loop they were made for.
final class IntSignal: Sendable {
    private let body: @Sendable (Int32) -> Void

    private init(_ body: @escaping @Sendable (Int32) -> Void) {
        self.body = body
    }

    /// - Parameter name: of a signal whose only parameter is an `int`, an enumeration or a `gboolean`.
    static func connect(
        _ object: UnsafeMutableRawPointer, _ name: String, _ body: @escaping @Sendable (Int32) -> Void
    ) {
        let call: @convention(c) (gpointer?, gint, gpointer?) -> Void = { _, number, data in
            guard let data else { return }
            Unmanaged<IntSignal>.fromOpaque(data).takeUnretainedValue().body(number)
        }
        let forget: GClosureNotify = { data, _ in
            guard let data else { return }
            Unmanaged<IntSignal>.fromOpaque(data).release()
        }
        g_signal_connect_data(
            object, name, unsafeBitCast(call, to: GCallback.self),
            Unmanaged.passRetained(IntSignal(body)).toOpaque(), forget, GConnectFlags(rawValue: 0))
    }
}
