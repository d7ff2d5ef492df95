/// What has left the slots of a `ClockShard` and is found again for as long as something else keeps it.
@usableFromInline
struct WeakEntry<Value: Sendable> {
    @usableFromInline
    enum Held {
        /// On its way out: whoever took it out makes the weak reference, outside the lock. Held until then, so that no
        /// reader misses it in between.
        case departing(Value)
        case weak(WeakValue<Value>)
    }

    @usableFromInline var held: Held
    /// Names this stay in the weak level: what was found under it may only come back while nothing has taken its place.
    @usableFromInline let ticket: Int
    @usableFromInline let cost: Int
    @usableFromInline let lifetime: Double
    @usableFromInline var expires: Double
    /// Whether `expires` comes from the entry's own expiration, which ends it here, too.
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

    /// The value while something keeps it. Calls the owner's code: never under a lock.
    @inlinable var value: Value? {
        switch held {
        case .departing(let value): value
        case .weak(let weak): weak.value
        }
    }

    /// Whether anything keeps the value. Calls the owner's code, too.
    @inlinable var isAlive: Bool {
        switch held {
        case .departing: true
        case .weak(let weak): weak.isAlive
        }
    }
}
