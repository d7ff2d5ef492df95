/// A reference to a value that does not keep it alive.
///
/// A value is usually a structure around a reference-counted object: hold that object weakly, and make the structure again
/// on request.
public struct WeakValue<Value: Sendable>: Sendable {
    @usableFromInline
    enum Source: Sendable {
        case closure(@Sendable () -> Value?)
        case object(WeakSource<Value>)
    }

    @usableFromInline let source: Source

    /// Creates a reference from a closure.
    ///
    /// - Parameter load: returns the value if it is alive, else nil; called on any thread, never under a lock.
    @inlinable
    public init(_ load: @escaping @Sendable () -> Value?) {
        source = .closure(load)
    }

    /// Creates a reference from an object. This is cheaper: it saves an allocation, and whether the object is alive is
    /// known without making the value.
    ///
    /// - Parameters:
    ///   - object: the object to hold weakly.
    ///   - make: makes the value from the object; it must not keep the object itself alive.
    @inlinable
    public init<Object: AnyObject & Sendable>(_ object: Object, _ make: @escaping @Sendable (Object) -> Value?) {
        source = .object(WeakObject(object, make))
    }

    /// The value; nil once it has no owner any more.
    @inlinable public var value: Value? {
        switch source {
        case .closure(let load): load()
        case .object(let object): object.value
        }
    }

    /// Whether the value is alive.
    @inlinable var isAlive: Bool {
        switch source {
        case .closure(let load): load() != nil
        case .object(let object): object.isAlive
        }
    }
}

/// The object of a `WeakValue`, independent of the object's type.
@usableFromInline
class WeakSource<Value: Sendable>: @unchecked Sendable {
    // `@unchecked` because a class that is not final cannot be checked; it has no state.
    @inlinable var value: Value? { nil }
    @inlinable var isAlive: Bool { false }

    @inlinable
    init() {}
}

/// A weakly held object, and the closure that makes a value from it.
///
/// `@unchecked Sendable` because the reference is written only by `init`, and the runtime clears it atomically.
@usableFromInline
final class WeakObject<Object: AnyObject & Sendable, Value: Sendable>: WeakSource<Value>, @unchecked Sendable {
    @usableFromInline weak var object: Object?
    @usableFromInline let make: @Sendable (Object) -> Value?

    @inlinable
    init(_ object: Object, _ make: @escaping @Sendable (Object) -> Value?) {
        self.object = object
        self.make = make
    }

    @inlinable override var value: Value? { object.flatMap { make($0) } }
    @inlinable override var isAlive: Bool { object != nil }
}
