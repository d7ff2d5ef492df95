import CGTK

/// The state of a list's prefetching, by position. A value without side effects: its owner starts and stops the work.
struct ListPlan<Work: AnyObject> {
    /// The positions to prefetch, the nearest first.
    private var wanted: [Int] = []
    private var running: [Int: Work] = [:]
    /// The positions of `wanted` whose work has ended.
    private var ended: Set<Int> = []
    /// A counter of the changes that may give a position another meaning.
    private(set) var revision = 0

    /// The positions with running work.
    var runningPositions: [Int] { running.keys.sorted() }

    /// - Parameter visible: the visible positions. Their running work goes on, since it is needed now.
    /// - Returns: the work that the caller must stop.
    mutating func move(to positions: [Int], visible: Range<Int>) -> [Work] {
        wanted = positions
        let kept = Set(positions)
        ended.formIntersection(kept)
        let dropped = running.filter { !kept.contains($0.key) && !visible.contains($0.key) }
        for position in dropped.keys { running[position] = nil }
        return dropped.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Returns the next position to start; nil if there is none or `limit` are running.
    func next(atMost limit: Int) -> Int? {
        guard running.count < limit else { return nil }
        return wanted.first { running[$0] == nil && !ended.contains($0) }
    }

    /// - Parameter work: nil if there is nothing to do for the position.
    mutating func start(_ position: Int, _ work: Work?) {
        if let work { running[position] = work } else { ended.insert(position) }
    }

    mutating func end(_ work: Work) {
        guard let position = running.first(where: { $0.value === work })?.key else { return }
        running[position] = nil
        if wanted.contains(position) { ended.insert(position) }
    }

    /// Applies a replacement of items, which moves the positions behind them.
    ///
    /// - Returns: the work that the caller must stop.
    mutating func replace(_ position: Int, removed: Int, added: Int) -> [Work] {
        revision += 1
        func moved(_ old: Int) -> Int? {
            if old < position { return old }
            return old < position + removed ? nil : old - removed + added
        }
        let dropped = running.filter { moved($0.key) == nil }
        running = running.reduce(into: [:]) { result, element in
            if let position = moved(element.key) { result[position] = element.value }
        }
        ended = Set(ended.compactMap(moved))
        wanted = wanted.compactMap(moved)
        return dropped.sorted { $0.key < $1.key }.map(\.value)
    }

    /// - Returns: the work that the caller must stop.
    mutating func clear() -> [Work] {
        defer { (wanted, running, ended, revision) = ([], [:], [], revision + 1) }
        return running.sorted { $0.key < $1.key }.map(\.value)
    }
}

/// A strong reference to a list model with a handler of its changes.
@MainActor final class ListModelWatch {
    typealias Change = @MainActor (_ position: Int, _ removed: Int, _ added: Int) -> Void

    private let model: GObjectReference
    private let signal: Signal

    init(_ model: GObjectReference, _ body: @escaping Change) {
        self.model = model
        let call: @convention(c) (gpointer?, guint, guint, guint) -> Void = { data, position, removed, added in
            guard let body = Retained<Change>.value(behind: data) else { return }
            MainActor.assumeIsolated { body(Int(position), Int(removed), Int(added)) }
        }
        signal = Signal(
            model.raw, "items-changed", unsafeBitCast(call, to: GCallback.self), Retained<Change>.pointer(to: body))
    }

    isolated deinit {
        signal.disconnect()
    }

    var count: Int { Int(g_list_model_get_n_items(model.opaque)) }
}

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
        func position(_ offset: Double, _ rule: FloatingPointRoundingRule) -> Int {
            // An edge within a thousandth of an item counts as met: sums of fractions are not exact.
            let exact = offset / length * Double(count) + (rule == .up ? -0.001 : 0.001)
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
