import HalcyonSystem

/// The priority of all loads of a prefetcher; the coordinator knows them by its identity.
final class PrefetchPriority: Sendable {
    private let current: Lock<RequestPriority>

    init(_ priority: RequestPriority) {
        current = Lock(priority)
    }

    var value: RequestPriority { current.withLock { $0 } }

    func set(_ newValue: RequestPriority, _ coordinator: Coordinator) {
        let isChange = current.withLock { current in
            defer { current = newValue }
            return current != newValue
        }
        if isChange { coordinator.perform { $0.priorityChanged(of: self) } }
    }
}
