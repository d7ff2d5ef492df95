/// A reference to a value that does not keep it alive.
///
/// A value is usually a structure around something reference-counted: hold that weakly, and make the structure anew
/// when it is asked for.
public struct WeakValue<Value: Sendable>: Sendable {
    @usableFromInline let load: @Sendable () -> Value?

    /// - Parameter load: the value while something keeps it, else nil; called on any thread, never under a lock.
    @inlinable
    public init(_ load: @escaping @Sendable () -> Value?) {
        self.load = load
    }

    /// - Parameters:
    ///   - object: what is held weakly.
    ///   - make: makes the value of the object; it must not keep the object itself.
    @inlinable
    public init<Object: AnyObject & Sendable>(_ object: Object, _ make: @escaping @Sendable (Object) -> Value?) {
        self.init { [weak object] in object.flatMap { make($0) } }
    }

    /// The value, nil once nothing keeps it any more.
    @inlinable public var value: Value? { load() }
}
