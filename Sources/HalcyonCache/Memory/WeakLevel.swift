/// The entries that have left the slots of a shard and are found for as long as their values have other owners.
///
/// Most values that leave have no other owner and end at once. So an entry is first only noted as departing, in a list that
/// is short because few threads remove entries at a time, and it gets a place in the dictionary only if its value outlives
/// that. No key is in both. As in the slots, nothing is released here: removed entries are returned, including their keys.
@usableFromInline
struct WeakLevel<Key: Hashable & Sendable, Value: Sendable> {
    @usableFromInline
    struct Element {
        @usableFromInline let key: HashedKey<Key>
        @usableFromInline var entry: WeakEntry<Value>

        @inlinable
        init(_ key: HashedKey<Key>, _ entry: WeakEntry<Value>) {
            self.key = key
            self.entry = entry
        }
    }

    @inlinable static var minimumLimit: Int { 32 }

    @usableFromInline var departing: ContiguousArray<Element> = []
    @usableFromInline var settled: [HashedKey<Key>: WeakEntry<Value>] = [:]
    /// The last ticket given. It always increases, so that no ticket is given twice.
    @usableFromInline var lastTicket = 0
    /// The number of settled entries above which the entries with ended values are swept again.
    @usableFromInline var limit = Self.minimumLimit

    @inlinable var count: Int { departing.count + settled.count }

    @inlinable
    init() {}

    // MARK: By key

    @inlinable
    func entry(_ key: Key, hash: Int) -> WeakEntry<Value>? {
        if let index = departingIndex(of: key, hash: hash) { return departing[index].entry }
        return settled.isEmpty ? nil : settled[HashedKey(key, hash: hash)]
    }

    /// Removes an entry.
    ///
    /// - Parameter ticket: the ticket the entry must have; nil for any.
    @inlinable
    mutating func remove(_ key: Key, hash: Int, ticket: Int? = nil) -> Element? {
        if let index = departingIndex(of: key, hash: hash) {
            guard ticket == nil || departing[index].entry.ticket == ticket else { return nil }
            return departing.remove(at: index)
        }
        guard let index = settledIndex(of: key, hash: hash),
            ticket == nil || settled.values[index].ticket == ticket
        else { return nil }
        let (key, entry) = settled.remove(at: index)
        return Element(key, entry)
    }

    @inlinable
    mutating func extend(_ key: Key, hash: Int, ticket: Int, to expires: Double) {
        if let index = departingIndex(of: key, hash: hash) {
            if departing[index].entry.ticket == ticket { departing[index].entry.expires = expires }
        } else if let index = settledIndex(of: key, hash: hash), settled.values[index].ticket == ticket {
            settled.values[index].expires = expires
        }
    }

    @inlinable
    func departingIndex(of key: Key, hash: Int) -> Int? {
        // By index, here and below: binding an element would retain the references in it.
        for index in departing.indices
        where departing[index].key.known == hash && departing[index].key.key == key {
            return index
        }
        return nil
    }

    @inlinable
    func settledIndex(of key: Key, hash: Int) -> Dictionary<HashedKey<Key>, WeakEntry<Value>>.Index? {
        settled.isEmpty ? nil : settled.index(forKey: HashedKey(key, hash: hash))
    }

    // MARK: By ticket

    /// Replaces the value of a departing entry by a weak reference.
    ///
    /// - Returns: the value that was held until now; nil if the entry is no longer departing.
    @inlinable
    mutating func settle(_ ticket: Int, as reference: WeakValue<Value>) -> WeakEntry<Value>.Held? {
        guard let index = departingIndex(of: ticket) else { return nil }
        var held = WeakEntry<Value>.Held.weak(reference)
        swap(&departing[index].entry.held, &held)
        return held
    }

    /// Ends an entry's departure, and moves it to the dictionary if its value is alive.
    ///
    /// - Returns: the entry if it was removed.
    @inlinable
    mutating func arrive(_ ticket: Int, isAlive: Bool) -> Element? {
        guard let index = departingIndex(of: ticket) else { return nil }
        guard isAlive else { return departing.remove(at: index) }
        let element = departing.remove(at: index)
        settled[element.key] = element.entry
        return nil
    }

    @inlinable
    func departingIndex(of ticket: Int) -> Int? {
        for index in departing.indices where departing[index].entry.ticket == ticket { return index }
        return nil
    }

    // MARK: Sweeping

    /// Returns all settled entries, to be checked outside the lock. The limit is raised so that no other thread checks them
    /// until their number has doubled.
    @inlinable
    mutating func elements() -> [Element] {
        limit = max(Self.minimumLimit, settled.count * 2)
        return settled.map { Element($0.key, $0.value) }
    }

    /// Removes the entries that were found dead, and sets the limit so that the next check is due when the number of the
    /// remaining ones has doubled.
    @inlinable
    mutating func removeDead(_ dead: [Element]) -> [Element] {
        var removed: [Element] = []
        removed.reserveCapacity(dead.count)
        for element in dead {
            guard let index = settled.index(forKey: element.key),
                settled.values[index].ticket == element.entry.ticket
            else { continue }
            let (key, entry) = settled.remove(at: index)
            removed.append(Element(key, entry))
        }
        limit = max(Self.minimumLimit, settled.count * 2)
        return removed
    }
}

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

/// A key with its precomputed hash.
@usableFromInline
struct HashedKey<Key: Hashable>: Hashable {
    @usableFromInline let key: Key
    @usableFromInline let known: Int

    @inlinable
    init(_ key: Key, hash: Int) {
        self.key = key
        known = hash
    }

    @inlinable
    static func == (left: Self, right: Self) -> Bool { left.known == right.known && left.key == right.key }

    @inlinable
    func hash(into hasher: inout Hasher) { hasher.combine(known) }
}
