import HalcyonNetwork

/// The outcome of a transfer.
public struct TransferSummary: Sendable, Equatable {
    /// The status code: 200, 203, 206 or 304.
    public let status: Int
    /// The number of bytes of the decompressed body.
    public let bytes: Int
    /// The time that it waited for its turn, over all attempts and redirects.
    public let queue: Duration
    /// The number of redirects that were followed.
    public let redirectCount: Int
    /// The number of attempts that failed before.
    public let retryCount: Int
    /// The metrics of the request that brought the answer; nil if the transport keeps none.
    public let metrics: TransportMetrics?

    init(_ result: DownloadResult) {
        status = result.status
        bytes = result.data.count
        queue = result.queueTime
        redirectCount = result.redirectCount
        retryCount = result.retryCount
        metrics = result.metrics
    }
}
