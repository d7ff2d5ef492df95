/// What happens to a load, in order.
public enum ImageEvent: Sendable {
    /// Bytes arrived. Any number of times.
    case progress(LoadProgress)
    /// What to show until the image comes: part of it, or a stale one. Any number of times, and never cached.
    case preview(ImagePreview)
    /// The end. Once, and last.
    case finished(ImageResponse)
}

/// How much of a body has arrived.
public struct LoadProgress: Hashable, Sendable {
    /// Bytes so far.
    public var received: Int
    /// Bytes in all, where the server says.
    public var expected: Int?

    public init(received: Int, expected: Int?) {
        self.received = received
        self.expected = expected
    }

    /// 0 to 1, nil while the end is not known.
    public var fraction: Double? {
        guard let expected, expected > 0 else { return nil }
        return min(1, Double(received) / Double(expected))
    }
}
