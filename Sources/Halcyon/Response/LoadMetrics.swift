import HalcyonNetwork

/// Where the time of a load went. Work that was shared with another load is counted in both.
public struct LoadMetrics: Sendable, Equatable {
    /// From the request to the result.
    public var total: Duration = .zero
    /// Looking for it in the caches, with the wait for a thread where that is the disk.
    public var lookup: Duration = .zero
    /// What each cache that was asked in vain, or not asked, had against it.
    public var misses: [CacheMiss] = []
    /// The transfer's wait for its turn, over all attempts and redirects; nil without a transfer.
    public var queue: Duration?
    /// Decoding, with the wait for a thread.
    public var decode: Duration?
    /// Processors, with the wait for a thread.
    public var process: Duration?
    /// Encoding for a web response, with the wait for a thread.
    public var encode: Duration?
    /// Of the encoded bytes that the image was made of.
    public var bytes: Int?
    /// Of the transfer, where there was one: name look-up, connect, TLS, first byte, protocol, reused connection.
    public var transfer: TransportMetrics?
    /// Transfers, a second one where the first brought a 304 for something that was gone.
    public var transfers = 0
    /// Redirects that were followed.
    public var redirects = 0
    /// Attempts that failed and were followed by another.
    public var retries = 0

    public init() {}

    mutating func add(_ note: LoadNote) {
        if let took = note.took { lookup += took }
        switch note.kind {
        case .cacheMissed(let miss): misses.append(miss)
        case .transferEnded(let summary):
            transfers += 1
            queue = (queue ?? .zero) + summary.queue
            transfer = summary.metrics
            redirects += summary.redirects
            retries += summary.retries
        case .decoded(_, let time): decode = (decode ?? .zero) + time
        case .processed(let time): process = (process ?? .zero) + time
        case .encoded(_, let time): encode = (encode ?? .zero) + time
        default: break
        }
    }
}
