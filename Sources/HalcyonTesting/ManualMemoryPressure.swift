import HalcyonSystem

/// A source of memory pressure that a test controls.
public final class ManualMemoryPressure: MemoryPressureSource {
    private let observers = Observers<MemoryPressure>()

    /// Creates a source that sends nothing by itself.
    public init() {}

    /// The number of subscriptions.
    public var subscriberCount: Int { observers.count }

    /// Sends a step to all subscribers, the oldest subscription first, on the caller's thread; each has handled it
    /// when this returns.
    public func send(_ step: MemoryPressure) { observers.notify(step) }

    public func subscribe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureSubscription {
        MemoryPressureSubscription(observers.add(body))
    }
}
