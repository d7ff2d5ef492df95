/// The memory of a shard: slots for entries, and the hash table that finds them.
///
/// Allocated manually rather than in arrays: a search reads keys in place, without a retain and a release, and readers
/// write marks atomically. The table is custom rather than a `Dictionary` so that a key is hashed only once to select the
/// shard and find the slot.
///
/// Not copyable: it owns its memory without a reference that reads would have to count.
@usableFromInline
struct Slots<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
    @usableFromInline let marks: UnsafeMutablePointer<SlotMark>
    /// Initialised, like the values, if the slot's mark has chances other than `free`.
    @usableFromInline let keys: UnsafeMutablePointer<Key>
    @usableFromInline let values: UnsafeMutablePointer<Value>
    /// Open addressing with linear probing, at most half full: slot + 1, or 0 if empty.
    @usableFromInline let table: UnsafeMutablePointer<Int32>
    /// The number of positions in the table minus one; there are half as many slots.
    @usableFromInline let tableMask: Int
    /// The number of slots that have ever been used.
    @usableFromInline var used = 0

    /// The number of chances that marks a slot as empty.
    @inlinable static var free: Int8 { -1 }
    @inlinable var capacity: Int { (tableMask + 1) / 2 }

    /// - Parameter capacity: a power of two.
    @inlinable
    init(capacity: Int) {
        marks = .allocate(capacity: capacity)
        keys = .allocate(capacity: capacity)
        values = .allocate(capacity: capacity)
        table = .allocate(capacity: capacity * 2)
        table.initialize(repeating: 0, count: capacity * 2)
        tableMask = capacity * 2 - 1
    }

    @inlinable
    deinit {
        for slot in 0..<used where marks[slot].chances != Self.free {
            (keys + slot).deinitialize(count: 1)
            (values + slot).deinitialize(count: 1)
        }
        marks.deinitialize(count: used)
        marks.deallocate()
        keys.deallocate()
        values.deallocate()
        table.deallocate()
    }

    // MARK: Changing

    /// Adds an entry in the next unused slot, and returns the slot.
    @inlinable
    mutating func add(_ value: Value, for key: Key, mark: EntryMark) -> Int {
        let slot = used
        (marks + slot).initialize(to: SlotMark(mark))
        fill(slot, value, for: key)
        used = slot + 1
        return slot
    }

    /// Stores an entry in an empty slot that has been used before.
    @inlinable
    func reuse(_ slot: Int, _ value: Value, for key: Key, mark: EntryMark) {
        marks[slot] = SlotMark(mark)
        fill(slot, value, for: key)
    }

    @inlinable
    func fill(_ slot: Int, _ value: Value, for key: Key) {
        (keys + slot).initialize(to: key)
        (values + slot).initialize(to: value)
    }

    /// Doubles the memory and rebuilds the table.
    @inlinable
    mutating func grow() {
        var grown = Self(capacity: capacity * 2)
        for slot in 0..<used {
            let isFree = marks[slot].chances == Self.free
            (grown.marks + slot).moveInitialize(from: marks + slot, count: 1)
            guard !isFree else { continue }
            (grown.keys + slot).moveInitialize(from: keys + slot, count: 1)
            (grown.values + slot).moveInitialize(from: values + slot, count: 1)
            grown.link(slot)
        }
        grown.used = used
        // The slots that were moved from must not be released with the old memory.
        used = 0
        self = grown
    }

    // MARK: The table

    @inlinable
    func home(of hash: Int) -> Int {
        // The lowest bits have already selected the shard.
        Int(truncatingIfNeeded: UInt(bitPattern: hash) >> 8) & tableMask
    }

    /// Returns the position of a key's slot in the table.
    @inlinable
    func position(of key: Key, hash: Int) -> Int? {
        var position = home(of: hash)
        while table[position] != 0 {
            let slot = Int(table[position]) - 1
            if marks[slot].hash == hash, keys[slot] == key { return position }
            position = (position + 1) & tableMask
        }
        return nil
    }

    @inlinable
    func position(ofSlot slot: Int) -> Int {
        var position = home(of: marks[slot].hash)
        while Int(table[position]) != slot + 1 { position = (position + 1) & tableMask }
        return position
    }

    @inlinable
    func link(_ slot: Int) {
        var position = home(of: marks[slot].hash)
        while table[position] != 0 { position = (position + 1) & tableMask }
        table[position] = Int32(truncatingIfNeeded: slot + 1)
    }

    /// Removes a slot from the table, and moves later entries of the same run up, so that no search stops at the gap before
    /// it finds them.
    @inlinable
    func unlink(at start: Int) {
        var gap = start
        var position = start
        while true {
            position = (position + 1) & tableMask
            guard table[position] != 0 else { break }
            let home = home(of: marks[Int(table[position]) - 1].hash)
            // If its home lies cyclically in (gap, position], it must stay behind the gap.
            if (position - home) & tableMask < (position - gap) & tableMask { continue }
            table[gap] = table[position]
            gap = position
        }
        table[gap] = 0
    }
}
