/// The metrics of one transfer. Times count from its start; a reused connection has zero for the steps it skipped.
public struct TransportMetrics: Sendable, Equatable {
    /// The time when the host name was resolved.
    public var nameLookup: Duration
    /// The time when the connection was established.
    public var connect: Duration
    /// The time when the TLS handshake was done; zero without TLS.
    public var tls: Duration
    /// The time when the first byte of the response arrived.
    public var firstByte: Duration
    /// The time when the last byte arrived.
    public var total: Duration
    /// The number of bytes of the body as transferred, compressed or not.
    public var bytesReceived: Int
    /// The protocol version of the response.
    public var version: HTTPVersion
    /// Whether the connection of an earlier transfer was reused.
    public var reusedConnection: Bool

    /// Creates metrics. By default all times and counts are zero, and the connection is a new one with HTTP/1.1.
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

extension TransportMetrics {
    /// The time from the end of the name lookup until the connection was established.
    public var connectTime: Duration { span(nameLookup, connect) }
    /// The time of the TLS handshake; zero without TLS.
    public var handshakeTime: Duration { span(connect, tls) }
    /// The time from the connection, including TLS if used, to the first byte of the response.
    public var waitTime: Duration { span(max(connect, tls), firstByte) }
    /// The time from the first byte to the last.
    public var receiveTime: Duration { span(firstByte, total) }

    /// Returns the time between two points; zero if a step was skipped.
    private func span(_ from: Duration, _ to: Duration) -> Duration { max(.zero, to - from) }
}
