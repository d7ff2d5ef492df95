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
