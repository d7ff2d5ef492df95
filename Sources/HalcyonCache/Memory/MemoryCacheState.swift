import Foundation
import HalcyonSystem

/// The part of a `MemoryCache` that changes with every insert and removal: its totals, the place of the clock's hand, and the
/// weak level. Behind one lock, which every thread that changes the cache holds from beginning to end.
///
/// One budget for all shards, since limits of a sixteenth each would refuse any entry larger than that. One hand goes round all
/// of them, so that an entry's chances do not depend on the number of entries in its shard.
@usableFromInline
struct MemoryCacheState<Key: Hashable & Sendable, Value: Sendable> {
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
    /// The limits as they were set, and as inserts compare with them.
    var configuration: MemoryCacheConfiguration
    @usableFromInline var limits: CacheLimits

    init(_ configuration: MemoryCacheConfiguration) {
        (self.configuration, limits) = (configuration, CacheLimits(configuration))
        sweeps = configuration.sweepInterval == nil
    }

    /// Accounts for an entry that has left its slot.
    @inlinable
    mutating func subtract(_ mark: EntryMark) {
        cost -= mark.cost
        count -= 1
    }

    /// Returns whether there is room for one more entry, or for a dearer value in the place of another.
    @inlinable
    func hasRoom(for mark: EntryMark, insteadOf former: Int?) -> Bool {
        cost - (former ?? 0) <= limits.cost - mark.cost && count + (former == nil ? 1 : 0) <= limits.count
    }
}

/// The entries that have left the slots and are found for as long as their values have other owners. No key is in both.
///
/// Removed entries are returned, with their keys, so that nothing is released under the lock.
@usableFromInline
struct WeakLevel<Key: Hashable & Sendable, Value: Sendable> {
    @usableFromInline
    struct Entry {
        /// The reference, which also identifies the entry: only if it is still that of its key may its value come back.
        @usableFromInline let reference: WeakValue<Value>
        @usableFromInline let mark: EntryMark

        @inlinable
        init(_ reference: WeakValue<Value>, mark: EntryMark) { (self.reference, self.mark) = (reference, mark) }
    }

    @usableFromInline typealias Element = (key: Key, value: Entry)

    /// The number of entries below which none is looked for that has ended.
    @inlinable static var minimumLimit: Int { 512 }

    @usableFromInline var entries: [Key: Entry] = [:]
    /// The number of entries above which those with ended values are swept again.
    @usableFromInline var limit = Self.minimumLimit

    @inlinable var isSweepDue: Bool { entries.count > limit }

    @inlinable
    init() {}

    /// Removes the entry of a key.
    ///
    /// - Parameter known: the reference that it must have; nil for any.
    @inlinable
    mutating func remove(_ key: Key, known: WeakValue<Value>? = nil) -> Element? {
        guard !entries.isEmpty, let index = entries.index(forKey: key),
            known == nil || entries.values[index].reference === known
        else { return nil }
        return entries.remove(at: index)
    }

    /// Returns all entries, to be checked outside the lock. The limit is raised so that no other thread checks them until their
    /// number has doubled.
    @inlinable
    mutating func elements() -> [Element] {
        limit = max(Self.minimumLimit, entries.count * 2)
        return Array(entries)
    }

    /// Removes the entries that were found ended, and sets the limit so that the next check is due when the number of the
    /// remaining ones has doubled.
    @inlinable
    mutating func remove(_ ended: [Element]) -> [Element] {
        let removed = ended.compactMap { remove($0.key, known: $0.value.reference) }
        limit = max(Self.minimumLimit, entries.count * 2)
        return removed
    }
}

/// A reference to a value that does not keep it alive.
///
/// A value is usually a structure around a reference-counted object: that object is held weakly, and the structure is made
/// again on request.
///
/// `@unchecked Sendable` because the weak reference is written only by `init`, and the runtime clears it atomically.
public final class WeakValue<Value: Sendable>: @unchecked Sendable {
    @usableFromInline weak var object: AnyObject?
    @usableFromInline let make: @Sendable (AnyObject) -> Value?

    /// Creates a reference.
    ///
    /// - Parameters:
    ///   - object: the object to hold weakly.
    ///   - make: makes the value from the object; called on any thread, never under a lock. It must not keep the object itself
    ///     alive.
    @inlinable
    public init<Object: AnyObject & Sendable>(_ object: Object, _ make: @escaping @Sendable (Object) -> Value?) {
        self.object = object
        self.make = { make(unsafeDowncast($0, to: Object.self)) }
    }

    /// The value; nil once it has no owner any more.
    @inlinable public var value: Value? { object.flatMap { make($0) } }
}

/// The clock of the memory cache: cheap to read, with the time as a number.
@usableFromInline
struct CacheClock: Sendable {
    private let timeSource: TimeSource?

    /// Creates a clock.
    ///
    /// - Parameter timeSource: nil reads the system's coarse clock, which takes a fifth of the time of the exact one. Its
    ///   steps of a few milliseconds do not matter for entries that live for minutes.
    init(_ timeSource: TimeSource?) {
        self.timeSource = timeSource
    }

    /// Returns the seconds since 1970.
    @usableFromInline
    func now() -> Double {
        if let timeSource { return timeSource.now.timeIntervalSince1970 }
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
