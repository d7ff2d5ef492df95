import Synchronization

/// What the search and the hand look at of an entry, apart from keys and values so that they touch little memory.
@usableFromInline
struct EntryMark {
    @usableFromInline var hash: Int
    @usableFromInline var cost: Int
    /// Seconds that an access keeps the entry for; infinity is for ever.
    @usableFromInline var lifetime: Double
    /// When the entry is over, in seconds of the cache's clock.
    @usableFromInline var expires: Double
    /// How often the hand still passes the entry by.
    @usableFromInline var chances: Int8
    /// Whether the time is the entry's own, not the cache's.
    @usableFromInline var hasOwnTime: Bool

    @inlinable
    init(hash: Int, cost: Int, lifetime: Double, expires: Double, chances: Int8, hasOwnTime: Bool) {
        self.hash = hash
        self.cost = cost
        self.lifetime = lifetime
        self.expires = expires
        self.chances = chances
        self.hasOwnTime = hasOwnTime
    }
}

/// An entry's mark in its slot. What readers write, and several may at once, is atomic.
@usableFromInline
struct SlotMark: ~Copyable {
    @usableFromInline let hash: Int
    @usableFromInline let cost: Int
    @usableFromInline let lifetime: Double
    @usableFromInline let expirationTime: Atomic<Double>
    @usableFromInline let chancesLeft: Atomic<Int8>
    @usableFromInline let hasOwnTime: Bool

    @inlinable
    init(_ mark: EntryMark) {
        hash = mark.hash
        cost = mark.cost
        lifetime = mark.lifetime
        expirationTime = Atomic(mark.expires)
        chancesLeft = Atomic(mark.chances)
        hasOwnTime = mark.hasOwnTime
    }

    @inlinable var expires: Double { expirationTime.load(ordering: .relaxed) }

    @inlinable var chances: Int8 { chancesLeft.load(ordering: .relaxed) }

    /// Written only where it changes, as the chances: a line that one processor writes is slow to read for the next.
    @inlinable
    func extend(to time: Double, from now: Double) {
        if time > now { expirationTime.store(time, ordering: .relaxed) }
    }

    @inlinable
    func setChances(_ chances: Int8) {
        if self.chances != chances { chancesLeft.store(chances, ordering: .relaxed) }
    }
}
