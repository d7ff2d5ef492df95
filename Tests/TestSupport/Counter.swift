import HalcyonSystem

/// Counts from any thread.
public final class Counter: Sendable, Hashable {
    private let count = Lock(0)

    public init() {}

    public var value: Int { count.withLock { $0 } }

    public func increment() {
        count.withLock { $0 += 1 }
    }

    public static func == (left: Counter, right: Counter) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
