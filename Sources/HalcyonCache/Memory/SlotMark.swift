import Synchronization

/// The data of an entry that the search and the hand need, apart from keys and values so that they touch little memory.
@usableFromInline
struct EntryMark {
    @usableFromInline var hash: Int
    @usableFromInline var cost: Int
    /// The seconds by which an access extends the entry; infinity for never expiring.
    @usableFromInline var lifetime: Double
    /// The time at which the entry expires, in seconds of the cache's clock.
    @usableFromInline var expires: Double
    /// The number of times the hand will still pass the entry by.
    @usableFromInline var chances: Int8
    /// Whether the expiration is the entry's own, not the cache's.
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

/// An entry's mark in its slot. The fields that readers write, possibly several at once, are atomic.
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

    /// Extends the expiration. It is written only if it changes, as are the chances: a cache line that one processor writes
    /// is slow to read for the next.
    @inlinable
    func extend(to time: Double, from now: Double) {
        if time > now { expirationTime.store(time, ordering: .relaxed) }
    }

    @inlinable
    func setChances(_ chances: Int8) {
        if self.chances != chances { chancesLeft.store(chances, ordering: .relaxed) }
    }
}
