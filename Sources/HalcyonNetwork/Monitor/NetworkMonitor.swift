/// A monitor that reports whether there is a network, and of which kind.
public protocol NetworkMonitor: Sendable {
    /// The current status. A load awaits it, so it should be available within milliseconds.
    var status: NetworkStatus { get async }

    /// Waits until there is a route to the network; returns at once if there is one.
    ///
    /// - Parameter limit: The longest time to wait.
    /// - Returns: False if there is no route when the time is over.
    /// - Throws: `CancellationError` if the task is cancelled.
    func waitForNetwork(limit: Duration) async throws -> Bool
}

/// The status of this machine's network connection.
public struct NetworkStatus: Sendable, Hashable {
    /// Whether there is a route to the network; true does not promise that any server answers.
    public var isOnline: Bool
    /// Whether data use should be kept low: the connection is metered, or the user has asked to save data.
    public var isConstrained: Bool

    /// Creates a status, by default that of a machine online without constraints.
    public init(isOnline: Bool = true, isConstrained: Bool = false) {
        self.isOnline = isOnline
        self.isConstrained = isConstrained
    }
}
