/// What one transfer took. Times count from its start; a reused connection shows zero for the steps it skipped.
public struct TransportMetrics: Sendable, Equatable {
    /// The name was resolved.
    public var nameLookup: Duration
    /// The connection stood.
    public var connect: Duration
    /// The TLS handshake was done; zero without TLS.
    public var tls: Duration
    /// The first byte of the answer was there.
    public var firstByte: Duration
    /// The last byte was there.
    public var total: Duration
    /// Bytes of the body as they came over the wire, packed or not.
    public var bytesReceived: Int
    public var version: HTTPVersion
    /// Whether an earlier transfer's connection served this one.
    public var reusedConnection: Bool

    public init(
        nameLookup: Duration = .zero, connect: Duration = .zero, tls: Duration = .zero, firstByte: Duration = .zero,
        total: Duration = .zero, bytesReceived: Int = 0, version: HTTPVersion = .http11, reusedConnection: Bool = false
    ) {
        self.nameLookup = nameLookup
        self.connect = connect
        self.tls = tls
        self.firstByte = firstByte
        self.total = total
        self.bytesReceived = bytesReceived
        self.version = version
        self.reusedConnection = reusedConnection
    }
}
