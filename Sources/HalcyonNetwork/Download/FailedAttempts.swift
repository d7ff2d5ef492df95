/// The failed attempts of a transfer so far: their number, and the reasons of the last ones.
struct FailedAttempts: Sendable {
    /// The largest number of reasons that are kept, for transfers that are retried for days.
    static let limit = 8

    private(set) var count = 0
    private(set) var reasons: [DownloadError.Reason] = []

    mutating func add(_ reason: DownloadError.Reason) {
        count += 1
        if reasons.count == Self.limit { reasons.removeFirst() }
        reasons.append(reason)
    }
}
