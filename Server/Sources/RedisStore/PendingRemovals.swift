/// The removals that Redis has not confirmed. Their entries are not found until it has.
///
/// The list is bounded: one removal more than it holds removes everything, by a new generation of the keys.
struct PendingRemovals: Sendable {
    private struct Removal {
        let number: Int
        var isUnderWay: Bool
    }

    let limit: Int
    private var removals: [String: Removal] = [:]
    private var lastNumber = 0
    /// The number of the removal of everything that has not been confirmed.
    private(set) var clearing: Int?
    private var clearingUnderWay: Int?

    init(limit: Int) {
        self.limit = max(0, limit)
    }

    /// Returns whether the entry of this name is not to be found.
    func covers(_ name: String) -> Bool { clearing != nil || removals[name] != nil }

    /// The number of entries that are waiting to be removed.
    var count: Int { removals.count }

    /// Whether a removal has to be sent, again or for the first time.
    var hasUnsent: Bool {
        clearing != nil ? clearingUnderWay == nil : removals.contains { !$0.value.isUnderWay }
    }

    /// Adds a removal, which is under way.
    ///
    /// - Returns: the number to end it with.
    mutating func begin(_ name: String) -> Int {
        lastNumber += 1
        removals[name] = Removal(number: lastNumber, isUnderWay: true)
        if removals.count > limit { (removals, clearing) = ([:], lastNumber) }
        return lastNumber
    }

    /// Adds the removal of everything, which is under way.
    mutating func beginClearing() -> Int {
        lastNumber += 1
        (clearing, clearingUnderWay) = (lastNumber, lastNumber)
        return lastNumber
    }

    /// Takes the removal of everything if it has to be sent, which is then under way.
    mutating func takeUnsentClearing() -> Int? {
        guard let clearing, clearingUnderWay == nil else { return nil }
        clearingUnderWay = clearing
        return clearing
    }

    /// Takes removals that have to be sent, which are then under way; nothing if everything is to be removed anyway.
    mutating func takeUnsent(atMost count: Int) -> [String: Int] {
        guard clearing == nil else { return [:] }
        var taken: [String: Int] = [:]
        for (name, removal) in removals where !removal.isUnderWay {
            guard taken.count < count else { break }
            taken[name] = removal.number
        }
        for name in taken.keys { removals[name]?.isUnderWay = true }
        return taken
    }

    /// Ends a removal, unless a later one of the same entry has replaced it.
    mutating func end(_ name: String, _ number: Int, isConfirmed: Bool) {
        guard removals[name]?.number == number else { return }
        if isConfirmed { removals[name] = nil } else { removals[name]?.isUnderWay = false }
    }

    /// Ends the removal of everything. If it is confirmed, so are all removals before it.
    mutating func endClearing(_ number: Int, isConfirmed: Bool) {
        if isConfirmed { removals = removals.filter { $0.value.number > number } }
        if clearingUnderWay == number { clearingUnderWay = nil }
        if isConfirmed, clearing == number { clearing = nil }
    }

    /// Lets no removal of an entry be sent any more, since a newer entry is sent in its place. If that fails, a new removal has to
    /// begin.
    ///
    /// - Returns: the number of the last removal, for `replaced`.
    mutating func beginReplacing(_ name: String) -> Int {
        removals[name]?.isUnderWay = true
        return lastNumber
    }

    /// Ends the removal of an entry, up to this number, because a newer entry has been stored in its place.
    mutating func replaced(_ name: String, upTo number: Int) {
        if let removal = removals[name], removal.number <= number { removals[name] = nil }
    }
}
