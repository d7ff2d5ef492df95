/// What has left the slots of a shard and is found for as long as anything else keeps it.
///
/// Most of what leaves is kept by nothing else and ends at once. So it is first only noted as departing, in a list that
/// is as short as the threads that take something out are few, and gets a place in the dictionary when it has outlived
/// that. No key is in both. As in the slots, nothing is released here: what leaves is returned, key and all.
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

    @inlinable static var leastLimit: Int { 32 }

    @usableFromInline var departing: ContiguousArray<Element> = []
    @usableFromInline var settled: [HashedKey<Key>: WeakEntry<Value>] = [:]
    /// Counts on for ever, so that no ticket is given twice.
    @usableFromInline var lastTicket = 0
    /// How many settled entries there are when those whose value has ended are looked for again.
    @usableFromInline var limit = Self.leastLimit

    @inlinable var count: Int { departing.count + settled.count }

    @inlinable
    init() {}

    // MARK: By key

    @inlinable
    func entry(_ key: Key, hash: Int) -> WeakEntry<Value>? {
        if let index = departingIndex(of: key, hash: hash) { return departing[index].entry }
        return settled.isEmpty ? nil : settled[HashedKey(key, hash: hash)]
    }

    /// - Parameter ticket: nil for whatever is there.
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
        // By index, here and below: taking an element in hand counts the references in it.
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

    /// Lets the value of a departing entry go, of which there is a weak reference now.
    ///
    /// - Returns: what was held until now.
    @inlinable
    mutating func settle(_ ticket: Int, as reference: WeakValue<Value>) -> WeakEntry<Value>.Held? {
        guard let index = departingIndex(of: ticket) else { return nil }
        var held = WeakEntry<Value>.Held.weak(reference)
        swap(&departing[index].entry.held, &held)
        return held
    }

    /// Ends an entry's departure, into the dictionary if its value lives.
    ///
    /// - Returns: what is out.
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

    /// All settled entries, to be looked at outside the lock; nobody else looks until there are twice as many.
    @inlinable
    mutating func elements() -> [Element] {
        limit = max(Self.leastLimit, settled.count * 2)
        return settled.map { Element($0.key, $0.value) }
    }

    /// Removes the entries that were found dead, and has them looked for again when there are twice as many as are left.
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
        limit = max(Self.leastLimit, settled.count * 2)
        return removed
    }
}
