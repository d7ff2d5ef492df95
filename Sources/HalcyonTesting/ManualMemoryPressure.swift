import HalcyonSystem

/// A source of memory pressure that a test controls.
public final class ManualMemoryPressure: MemoryPressureSource {
    private struct State {
        var subscribers: [Int: @Sendable (MemoryPressure) -> Void] = [:]
        var lastID = 0
    }

    private let state = Lock(State())

    public init() {}

    /// The number of subscriptions.
    public var subscriberCount: Int { state.withLock { $0.subscribers.count } }

    /// Sends a step to all subscribers, the oldest subscription first, on the caller's thread; each has handled it
    /// when this returns.
    public func send(_ step: MemoryPressure) {
        let bodies = state.withLock { $0.subscribers.sorted { $0.key < $1.key }.map(\.value) }
        for body in bodies { body(step) }
    }

    public func subscribe(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureSubscription {
        let id = state.withLock { state in
            state.lastID += 1
            state.subscribers[state.lastID] = body
            return state.lastID
        }
        return MemoryPressureSubscription { [self] in
            let body = state.withLock { $0.subscribers.removeValue(forKey: id) }
            withExtendedLifetime(body) {}
        }
    }
}
