/// The priority of a load: it orders the transfers that wait, and the work that waits for a thread.
public enum RequestPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// The lowest priority.
    case veryLow
    /// A priority below normal: the default of prefetching.
    case low
    /// The default priority of a request.
    case normal
    /// A priority above normal.
    case high
    /// The highest priority.
    case veryHigh

    public static func < (left: RequestPriority, right: RequestPriority) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The number of members of each priority, which gives the highest priority of any number of them in constant time.
@usableFromInline
package struct PriorityTally: Sendable {
    @usableFromInline var counts = InlineArray<5, Int>(repeating: 0)

    @inlinable package init() {}

    /// The highest priority; nil if there are no members.
    @inlinable
    package var highest: RequestPriority? {
        counts.indices.reversed().first { counts[$0] > 0 }.flatMap(RequestPriority.init(rawValue:))
    }

    @inlinable
    package mutating func add(_ priority: RequestPriority) {
        counts[priority.rawValue] += 1
    }

    @inlinable
    package mutating func remove(_ priority: RequestPriority) {
        counts[priority.rawValue] -= 1
    }
}
