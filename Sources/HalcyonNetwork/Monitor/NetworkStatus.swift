/// What is known of this machine's connection.
public struct NetworkStatus: Sendable, Hashable {
    /// Whether there is a way out to the network; true does not promise that anything answers.
    public var isOnline: Bool
    /// Whether the connection is to be spared: it is paid for by volume, or the user asked to save data.
    public var isConstrained: Bool

    public init(isOnline: Bool = true, isConstrained: Bool = false) {
        self.isOnline = isOnline
        self.isConstrained = isConstrained
    }
}
