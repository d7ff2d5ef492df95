import HalcyonNetwork

/// Where the time of a load went. Work that was shared with another load is counted in both.
public struct LoadMetrics: Sendable, Equatable {
    /// From the request to the result.
    public var total: Duration = .zero
    /// Decoding, with the wait for a thread.
    public var decode: Duration?
    /// Processors, with the wait for a thread.
    public var process: Duration?
    /// Of the encoded bytes that the image was made of.
    public var bytes: Int?
    /// Of the transfer, where there was one.
    public var transfer: TransportMetrics?

    public init() {}
}
