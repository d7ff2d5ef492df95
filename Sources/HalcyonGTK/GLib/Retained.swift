import CGTK
import Halcyon

/// A value behind a pointer that C keeps, until `Release` lets go of it.
final class Retained<Value: Sendable>: Sendable {
    private let value: Value

    private init(_ value: Value) {
        self.value = value
    }

    /// A pointer that keeps a value.
    static func pointer(to value: Value) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(Retained(value)).toOpaque()
    }

    /// The value that `pointer(to:)` was given; nil where C has none.
    static func value(behind data: UnsafeMutableRawPointer?) -> Value? {
        data.map { Unmanaged<Retained>.fromOpaque($0).takeUnretainedValue().value }
    }
}

/// Lets go of the object behind a pointer, in the forms in which GLib asks for that.
enum Release {
    static let destroy: @convention(c) (UnsafeMutableRawPointer?) -> Void = { data in
        if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
    }

    static let closure: GClosureNotify = { data, _ in Release.destroy(data) }
}

/// Closures behind pointers that C keeps, called on GTK's thread.
enum MainCall {
    typealias Body = @MainActor () -> Void

    /// A pointer for `now` or `later`, which `Release` lets go of.
    static func pointer(to body: @escaping Body) -> UnsafeMutableRawPointer { Retained<Body>.pointer(to: body) }

    /// Calls it at once.
    static let now: @convention(c) (UnsafeMutableRawPointer?) -> Void = { data in
        guard let body = Retained<Body>.value(behind: data) else { return }
        MainActor.assumeIsolated { body() }
    }

    /// Calls it soon: in the middle of a layout or of drawing nothing may change.
    static let later: @convention(c) (UnsafeMutableRawPointer?) -> Void = { data in
        guard let body = Retained<Body>.value(behind: data) else { return }
        MainInbox.shared.add(body)
    }
}
