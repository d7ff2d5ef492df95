/// Knows whether there is a network, and of which kind.
public protocol NetworkMonitor: Sendable {
    /// How it is now. Asked on a load's way, so it should come within milliseconds.
    var status: NetworkStatus { get async }

    /// Returns as soon as there is a way out to the network, at once when there is.
    ///
    /// - Parameter limit: how long to wait at most.
    /// - Returns: false when there is none by then.
    /// - Throws: `CancellationError` when the task is cancelled.
    func waitForNetwork(limit: Duration) async throws -> Bool
}
