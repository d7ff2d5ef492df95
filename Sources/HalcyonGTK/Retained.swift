import CGTK

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
