extension TransportMetrics {
    /// From the name to the connection.
    public var connectTime: Duration { span(nameLookup, connect) }
    /// The TLS handshake; zero without TLS.
    public var handshakeTime: Duration { span(connect, tls) }
    /// From the connection, with TLS where there is one, to the answer's first byte.
    public var waitTime: Duration { span(max(connect, tls), firstByte) }
    /// From the first byte to the last.
    public var receiveTime: Duration { span(firstByte, total) }

    /// Zero where a step was skipped.
    private func span(_ from: Duration, _ to: Duration) -> Duration { max(.zero, to - from) }
}
