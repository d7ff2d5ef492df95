/// An event of a load. Events arrive in the order in which they happen.
public enum ImageEvent: Sendable {
    /// Bytes arrived. Sent any number of times.
    case progress(LoadProgress)
    /// A preview to show until the image arrives: part of it, or a stale one. Sent any number of times, and never
    /// cached.
    case preview(ImagePreview)
    /// The end of the load. Sent once, and last.
    case finished(ImageResponse)
}

/// The amount of a body that has arrived.
public struct LoadProgress: Hashable, Sendable {
    /// The number of bytes received so far.
    public var received: Int
    /// The length of the whole body in bytes, if the server declared it.
    public var expected: Int?

    /// Creates a progress from numbers of bytes. `expected` is nil while the whole length is unknown.
    public init(received: Int, expected: Int?) {
        self.received = received
        self.expected = expected
    }

    /// The fraction received, from 0 to 1; nil while the length is unknown.
    public var fraction: Double? {
        guard let expected, expected > 0 else { return nil }
        return min(1, Double(received) / Double(expected))
    }
}
