/// The progress of a download.
public struct DownloadProgress: Sendable, Hashable {
    /// The number of bytes received so far, as transferred; it decreases when a failed attempt is retried.
    public var received: Int
    /// The total number of bytes to transfer, nil if the server does not declare it.
    public var expected: Int?
    /// The bytes received so far, decompressed, if the request has `exposesBody` set.
    package var body: ReceivedBody?

    package init(received: Int, expected: Int?, body: ReceivedBody? = nil) {
        self.received = received
        self.expected = expected
        self.body = body
    }

    /// The fraction received so far, from 0 to 1; nil if the total is unknown.
    public var fraction: Double? {
        guard let expected, expected > 0 else { return nil }
        return min(1, Double(received) / Double(expected))
    }
}
