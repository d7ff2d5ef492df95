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
