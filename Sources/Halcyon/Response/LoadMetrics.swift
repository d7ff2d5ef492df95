import HalcyonNetwork

/// The time that a load took, by stage. Work that was shared with another load is counted in both.
public struct LoadMetrics: Sendable, Equatable {
    /// The time from the request to the result.
    public var total: Duration = .zero
    /// The time of the look-ups in the caches, including the wait for a thread for the disk.
    public var lookup: Duration = .zero
    /// The caches that could not answer or were not asked, with the reasons.
    public var misses: [CacheMiss] = []
    /// The time that the transfer waited for its turn, over all attempts and redirects; nil without a transfer.
    public var queue: Duration?
    /// The time of decoding, including the wait for a thread.
    public var decode: Duration?
    /// The time of the processors, including the wait for a thread.
    public var process: Duration?
    /// The time of encoding for a web response, including the wait for a thread.
    public var encode: Duration?
    /// The number of encoded bytes that the image was made from.
    public var bytes: Int?
    /// The metrics of the transfer, if there was one: name look-up, connect, TLS, first byte, protocol, reused
    /// connection.
    public var transfer: TransportMetrics?
    /// The number of transfers: two if the first brought a 304 for an answer that was not stored.
    public var transferCount = 0
    /// The number of redirects that were followed.
    public var redirectCount = 0
    /// The number of attempts that failed and were followed by another.
    public var retryCount = 0

    /// Creates metrics without any work: times and counts are zero or nil.
    package init() {}

    mutating func add(_ note: LoadNote) {
        if let took = note.took { lookup += took }
        switch note.kind {
        case .cacheMissed(let miss): misses.append(miss)
        case .transferEnded(let summary):
            transferCount += 1
            queue = (queue ?? .zero) + summary.queue
            transfer = summary.metrics
            redirectCount += summary.redirectCount
            retryCount += summary.retryCount
        case .decoded(_, let time): decode = (decode ?? .zero) + time
        case .processed(let time): process = (process ?? .zero) + time
        case .encoded(_, let time): encode = (encode ?? .zero) + time
        default: break
        }
    }
}
