/// How far a download has come.
public struct DownloadProgress: Sendable, Hashable {
    /// Bytes received so far, as they come over the wire; back to a lower number when a failed attempt is retried.
    public var received: Int
    /// Bytes in all on the wire, nil when the server does not say.
    public var expected: Int?
    /// The bytes so far, unpacked, where the request asked to see them.
    public var body: ReceivedBody?

    public init(received: Int, expected: Int?, body: ReceivedBody? = nil) {
        self.received = received
        self.expected = expected
        self.body = body
    }

    /// From 0 to 1, nil when the end is unknown.
    public var fraction: Double? {
        guard let expected, expected > 0 else { return nil }
        return min(1, Double(received) / Double(expected))
    }
}
