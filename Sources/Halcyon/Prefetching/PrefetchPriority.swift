import HalcyonSystem

/// The priority of all loads of a prefetcher.
final class PrefetchPriority: Sendable {
    private let current: Lock<RequestPriority>
    @JobActor private var subscriptions: [ObjectIdentifier: Subscription] = [:]

    init(_ priority: RequestPriority) {
        current = Lock(priority)
    }

    /// The priority. A change applies to loads in progress.
    var value: RequestPriority {
        get { current.withLock { $0 } }
        set {
            let isChange = current.withLock { current in
                defer { current = newValue }
                return current != newValue
            }
            guard isChange else { return }
            JobActor.perform {
                for subscription in self.subscriptions.values { subscription.setPriority(self.value) }
            }
        }
    }

    @JobActor
    func add(_ subscription: Subscription) {
        subscriptions[ObjectIdentifier(subscription)] = subscription
    }

    @JobActor
    func remove(_ subscription: Subscription) {
        subscriptions[ObjectIdentifier(subscription)] = nil
    }
}
