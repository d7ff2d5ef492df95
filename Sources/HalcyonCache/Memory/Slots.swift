/// The memory of a shard: slots for entries, and the hash table that finds them.
///
/// Allocated by hand rather than in arrays: a search reads keys where they lie, instead of counting references to them up
/// and down, and readers write marks atomically. The table is our own rather than a `Dictionary` so that a key is hashed
/// once for choosing the shard and finding the slot.
///
/// Not copyable: it owns its memory without a reference that reads would count.
@usableFromInline
struct Slots<Key: Hashable & Sendable, Value: Sendable>: ~Copyable {
    @usableFromInline let marks: UnsafeMutablePointer<SlotMark>
    /// Initialised, like the values, where the mark has chances that are not `free`.
    @usableFromInline let keys: UnsafeMutablePointer<Key>
    @usableFromInline let values: UnsafeMutablePointer<Value>
    /// Open addressing with linear probing, at most half full: slot + 1, or 0 for nothing.
    @usableFromInline let table: UnsafeMutablePointer<Int32>
    /// The number of places in the table less one; there are half as many slots.
    @usableFromInline let tableMask: Int
    /// How many slots have ever been used.
    @usableFromInline var used = 0

    /// Marks a slot as empty.
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

    /// Makes use of one slot more.
    @inlinable
    mutating func add(_ value: Value, for key: Key, mark: EntryMark) -> Int {
        let slot = used
        (marks + slot).initialize(to: SlotMark(mark))
        fill(slot, value, for: key)
        used = slot + 1
        return slot
    }

    /// Uses an empty slot again.
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

    /// Moves to twice the memory, with the table made anew.
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
        // What was moved from is not to be released with the old memory.
        used = 0
        self = grown
    }

    // MARK: The table

    @inlinable
    func home(of hash: Int) -> Int {
        // The lowest bits have chosen the shard already.
        Int(truncatingIfNeeded: UInt(bitPattern: hash) >> 8) & tableMask
    }

    /// Where in the table a key's slot is.
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

    /// Takes a slot out of the table. Moves later entries of the same run up, so that no search stops at the gap before
    /// it finds them.
    @inlinable
    func unlink(at start: Int) {
        var gap = start
        var position = start
        while true {
            position = (position + 1) & tableMask
            guard table[position] != 0 else { break }
            let home = home(of: marks[Int(table[position]) - 1].hash)
            // Does its home lie cyclically in (gap, position]? Then it must stay behind the gap.
            if (position - home) & tableMask < (position - gap) & tableMask { continue }
            table[gap] = table[position]
            gap = position
        }
        table[gap] = 0
    }
}
