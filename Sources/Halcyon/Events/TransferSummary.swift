import HalcyonNetwork

/// What a transfer came to.
public struct TransferSummary: Sendable, Equatable {
    /// 200, 203, 206 or 304.
    public let status: Int
    /// Of the body, unpacked.
    public let bytes: Int
    /// How long it waited for its turn, over all attempts and redirects.
    public let queue: Duration
    /// Redirects that were followed.
    public let redirects: Int
    /// Attempts that failed before.
    public let retries: Int
    /// Of the request that brought the answer; nil where the transport keeps none.
    public let metrics: TransportMetrics?

    init(_ result: DownloadResult) {
        status = result.status
        bytes = result.data.count
        queue = result.queueTime
        redirects = result.redirectCount
        retries = result.retryCount
        metrics = result.metrics
    }
}
