/// The visible items of a list, by its scroll position: an estimate, since items may be of different heights.
struct ListWindow: Hashable {
    enum Direction: Hashable {
        case forward, backward
    }

    let count: Int
    /// The positions of the items that are at least partly visible.
    let visible: Range<Int>

    /// - Parameters: the values of the list's adjustment, and the number of its items.
    init(value: Double, lower: Double, upper: Double, pageSize: Double, count: Int) {
        self.count = max(0, count)
        let length = upper - lower
        guard length > 0, length.isFinite, pageSize > 0, value.isFinite, count > 0 else {
            visible = 0..<0
            return
        }
        func position(_ place: Double, _ rule: FloatingPointRoundingRule) -> Int {
            // An edge within a thousandth of an item counts as met: sums of fractions are not exact.
            let exact = place / length * Double(count) + (rule == .up ? -0.001 : 0.001)
            return Int(min(max(exact, 0), Double(count)).rounded(rule))
        }
        let first = min(position(value - lower, .down), count - 1)
        visible = first..<max(first + 1, position(value - lower + pageSize, .up))
    }

    /// Returns the positions that come next, the nearest first.
    ///
    /// - Parameters:
    ///   - screens: the number of positions, as a multiple of the visible items.
    ///   - limit: the maximum number of positions.
    func ahead(_ direction: Direction, screens: Double, limit: Int) -> [Int] {
        guard !visible.isEmpty, screens > 0, limit > 0 else { return [] }
        let wanted = min(Int(min(screens * Double(visible.count), Double(count)).rounded(.up)), limit)
        switch direction {
        case .forward: return Array(visible.upperBound..<min(count, visible.upperBound + wanted))
        case .backward: return (max(0, visible.lowerBound - wanted)..<visible.lowerBound).reversed()
        }
    }
}
