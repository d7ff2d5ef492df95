/// A reference to a value that does not keep it alive.
///
/// A value is usually a structure around something reference-counted: hold that weakly, and make the structure anew
/// when it is asked for.
public struct WeakValue<Value: Sendable>: Sendable {
    @usableFromInline
    enum Source: Sendable {
        case closure(@Sendable () -> Value?)
        case object(WeakSource<Value>)
    }

    @usableFromInline let source: Source

    /// - Parameter load: the value while something keeps it, else nil; called on any thread, never under a lock.
    @inlinable
    public init(_ load: @escaping @Sendable () -> Value?) {
        source = .closure(load)
    }

    /// The cheaper one: an allocation less, and whether the object lives is known without making the value.
    ///
    /// - Parameters:
    ///   - object: what is held weakly.
    ///   - make: makes the value of the object; it must not keep the object itself.
    @inlinable
    public init<Object: AnyObject & Sendable>(_ object: Object, _ make: @escaping @Sendable (Object) -> Value?) {
        source = .object(WeakObject(object, make))
    }

    /// The value, nil once nothing keeps it any more.
    @inlinable public var value: Value? {
        switch source {
        case .closure(let load): load()
        case .object(let object): object.value
        }
    }

    /// Whether anything keeps the value.
    @inlinable var isAlive: Bool {
        switch source {
        case .closure(let load): load() != nil
        case .object(let object): object.isAlive
        }
    }
}

/// What a `WeakValue` of an object comes from, whatever the object's type is.
@usableFromInline
class WeakSource<Value: Sendable>: @unchecked Sendable {
    // `@unchecked` because a class that is not final cannot be checked; it has no state.
    @inlinable var value: Value? { nil }
    @inlinable var isAlive: Bool { false }

    @inlinable
    init() {}
}
