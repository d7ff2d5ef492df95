/// The status of this machine's network connection.
public struct NetworkStatus: Sendable, Hashable {
    /// Whether there is a route to the network; true does not promise that any server answers.
    public var isOnline: Bool
    /// Whether data use should be kept low: the connection is metered, or the user has asked to save data.
    public var isConstrained: Bool

    public init(isOnline: Bool = true, isConstrained: Bool = false) {
        self.isOnline = isOnline
        self.isConstrained = isConstrained
    }
}
