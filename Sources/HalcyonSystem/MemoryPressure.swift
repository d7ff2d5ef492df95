/// How short memory is.
public enum MemoryPressure: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// What is easily made again had better go.
    case warning
    /// Memory is short: programs wait for it.
    case high
    /// Nothing gets on, or this process is about to be killed.
    case critical

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
