/// An entry that has left the slots of a `ClockShard` and is found again for as long as its value has other owners.
@usableFromInline
struct WeakEntry<Value: Sendable> {
    @usableFromInline
    enum Held {
        /// The entry is leaving: the thread that took it out makes the weak reference, outside the lock. The value is kept
        /// until then, so that no reader misses it in between.
        case departing(Value)
        case weak(WeakValue<Value>)
    }

    @usableFromInline var held: Held
    /// Identifies this stay in the weak level: an entry found with it may return only if no other has taken its place.
    @usableFromInline let ticket: Int
    @usableFromInline let cost: Int
    @usableFromInline let lifetime: Double
    @usableFromInline var expires: Double
    /// Whether `expires` is the entry's own expiration, which ends it in the weak level too.
    @usableFromInline let hasOwnTime: Bool

    @inlinable
    init(held: Held, ticket: Int, cost: Int, lifetime: Double, expires: Double, hasOwnTime: Bool) {
        self.held = held
        self.ticket = ticket
        self.cost = cost
        self.lifetime = lifetime
        self.expires = expires
        self.hasOwnTime = hasOwnTime
    }

    @inlinable
    func isOver(at now: Double) -> Bool { hasOwnTime && expires <= now }

    /// The value, if it is alive. Calls the cache owner's code: never use it under a lock.
    @inlinable var value: Value? {
        switch held {
        case .departing(let value): value
        case .weak(let weak): weak.value
        }
    }

    /// Whether the value is alive. Calls the cache owner's code too.
    @inlinable var isAlive: Bool {
        switch held {
        case .departing: true
        case .weak(let weak): weak.isAlive
        }
    }
}
