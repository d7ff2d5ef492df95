import CGTK
import Halcyon

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
