/// The part of a `MemoryCache` that changes with every insert and removal: its totals, the place of the clock's hand, and the
/// weak level. Behind one lock, which every thread that changes the cache holds from beginning to end.
///
/// One budget for all shards, since limits of a sixteenth each would refuse any entry larger than that. One hand goes round all
/// of them, so that an entry's chances do not depend on the number of entries in its shard.
@usableFromInline
struct CacheBooks<Key: Hashable & Sendable, Value: Sendable> {
    /// The total cost and the number of the entries in slots.
    @usableFromInline var cost = 0
    @usableFromInline var count = 0
    /// The shard in which the hand stands; it increases without end. The position within is kept by the shard.
    @usableFromInline var hand = 0
    @usableFromInline var misses = 0
    @usableFromInline var evictions = 0
    @usableFromInline var weakHits = 0
    @usableFromInline var weak = WeakLevel<Key, Value>()
    /// Whether the timer of the sweeps was started, or there is to be none.
    @usableFromInline var sweeps: Bool

    init(sweeps: Bool) {
        self.sweeps = sweeps
    }

    /// Accounts for an entry that has left its slot.
    @inlinable
    mutating func subtract(_ mark: EntryMark) {
        cost -= mark.cost
        count -= 1
    }

    /// Returns whether there is room for one more entry, or for a dearer value in the place of another.
    @inlinable
    func hasRoom(for mark: EntryMark, insteadOf former: Int?, costLimit: Int, countLimit: Int) -> Bool {
        cost - (former ?? 0) <= costLimit - mark.cost && count + (former == nil ? 1 : 0) <= countLimit
    }
}

/// The entries that have left the slots and are found for as long as their values have other owners. No key is in both.
///
/// Removed entries are returned, with their keys, so that nothing is released under the lock.
@usableFromInline
struct WeakLevel<Key: Hashable & Sendable, Value: Sendable> {
    /// An entry. A class, so that one that was found under the lock can be recognised later: only if it is still the key's
    /// entry may its value come back.
    @usableFromInline
    final class Entry: Sendable {
        /// Returns the value, if it is alive. It is code of the cache's owner, and what it returns may be the last reference: it
        /// is never called under a lock.
        @usableFromInline let value: @Sendable () -> Value?
        @usableFromInline let mark: EntryMark

        @inlinable
        init(_ value: @escaping @Sendable () -> Value?, mark: EntryMark) { (self.value, self.mark) = (value, mark) }
    }

    /// The number of entries below which none is looked for that has ended.
    @inlinable static var leastLimit: Int { 512 }

    @usableFromInline var entries: [Key: Entry] = [:]
    /// The number of entries above which those with ended values are swept again.
    @usableFromInline var limit = Self.leastLimit

    @inlinable var isSweepDue: Bool { entries.count > limit }

    @inlinable
    init() {}

    /// Removes the entry of a key.
    ///
    /// - Parameter known: the entry that it must be; nil for any.
    @inlinable
    mutating func remove(_ key: Key, known: Entry? = nil) -> (key: Key, value: Entry)? {
        guard !entries.isEmpty, let index = entries.index(forKey: key),
            known == nil || entries.values[index] === known
        else { return nil }
        return entries.remove(at: index)
    }

    /// Returns all entries, to be checked outside the lock. The limit is raised so that no other thread checks them until their
    /// number has doubled.
    mutating func elements() -> [(key: Key, value: Entry)] {
        limit = max(Self.leastLimit, entries.count * 2)
        return Array(entries)
    }

    /// Removes the entries that were found ended, and sets the limit so that the next check is due when the number of the
    /// remaining ones has doubled.
    mutating func remove(_ ended: [(key: Key, value: Entry)]) -> [(key: Key, value: Entry)] {
        let removed = ended.compactMap { remove($0.key, known: $0.value) }
        limit = max(Self.leastLimit, entries.count * 2)
        return removed
    }
}
