/// A source of reports of memory pressure.
public protocol MemoryPressureSource: Sendable {
    /// Calls `body` with each step from now on, until the subscription is cancelled or released.
    ///
    /// `body` is called on a thread of the source, one call after the other; it should return soon.
    func subscribe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureSubscription
}

/// A subscription to memory pressure; releasing it ends it.
public final class MemoryPressureSubscription: Sendable {
    private let end: Lock<(@Sendable () -> Void)?>

    /// Creates a subscription for a source of memory pressure.
    ///
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

/// The degree of memory pressure.
public enum MemoryPressure: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Memory that is easily recreated should be released.
    case warning
    /// Memory is short, and programs wait for it.
    case high
    /// No program makes progress, or this process is about to be killed.
    case critical

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
