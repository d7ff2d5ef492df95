/// Why the attempts of one transfer failed so far: how many there were, and the reasons of the last of them.
struct FailedAttempts: Sendable {
    /// Who retries for days keeps no more of it than that.
    static let limit = 8

    private(set) var count = 0
    private(set) var reasons: [DownloadError.Reason] = []

    mutating func add(_ reason: DownloadError.Reason) {
        count += 1
        if reasons.count == Self.limit { reasons.removeFirst() }
        reasons.append(reason)
    }
}
