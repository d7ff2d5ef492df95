/// Something that says when memory gets short.
public protocol MemoryPressureSource: Sendable {
    /// Has `body` called with each step from now on, until the subscription is cancelled or let go.
    ///
    /// `body` is called on a thread of the source's own, one call after the other; it should return soon.
    func subscribe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureSubscription
}

/// Keeps a subscription to memory pressure; letting it go ends it.
public final class MemoryPressureSubscription: Sendable {
    private let end: Lock<(@Sendable () -> Void)?>

    /// - Parameter end: ends the subscription; called once.
    public init(_ end: @escaping @Sendable () -> Void) {
        self.end = Lock(end)
    }

    deinit {
        cancel()
    }

    /// Ends the subscription. A step that is being delivered may still arrive.
    public func cancel() {
        let end = end.withLock { end in
            defer { end = nil }
            return end
        }
        end?()
    }
}

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
