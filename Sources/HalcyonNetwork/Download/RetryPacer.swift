import HalcyonSystem

/// A timer that waits between the attempts of a transfer, for as long as there is to be another one.
struct RetryPacer {
    let policy: RetryPolicy
    let configuration: ImageDownloader.Configuration
    /// The time when the transfer's total timeout expires.
    let deadline: ContinuousClock.Instant?
    /// The failed attempts that were followed by another one.
    private var failed = FailedAttempts()
    var retries: Int { failed.count }
    private var delayed = 0
    private var hasWaitedForNetwork = false

    init(policy: RetryPolicy, configuration: ImageDownloader.Configuration, deadline: ContinuousClock.Instant?) {
        self.policy = policy
        self.configuration = configuration
        self.deadline = deadline
    }

    /// Waits until it is time for the next attempt.
    ///
    /// - Throws: `error` if there is no further attempt, with the reasons of the earlier ones; `CancellationError`.
    mutating func waitForNextAttempt(after error: DownloadError) async throws {
        try Task.checkCancellation()
        let last = error.following(failed)
        if let limit = policy.networkWait, !hasWaitedForNetwork, await isOffline(error) {
            hasWaitedForNetwork = true
            let left = deadline.map { ContinuousClock.now.duration(to: $0) }
            // A monitor that throws counts as having found no network.
            let isBack = try? await configuration.networkMonitor.waitForNetwork(
                limit: min(limit, left ?? limit).forTimer)
            try Task.checkCancellation()
            guard isBack == true else { throw last }
        } else {
            let jitter = configuration.jitter()
            let now = configuration.time.now
            guard let delay = policy.delay(after: error, retries: delayed, jitter: jitter, now: now),
                deadline.map({ ContinuousClock.now.advanced(by: delay) < $0 }) ?? true
            else { throw last }
            try await configuration.sleep(delay)
            delayed += 1
        }
        failed.add(error.reason)
    }

    /// Returns whether the error is due to a missing network, without which host names cannot be resolved either.
    private func isOffline(_ error: DownloadError) async -> Bool {
        switch error.reason {
        case .offline: true
        case .connection(.hostNotFound), .connection(.unreachable):
            await !configuration.networkMonitor.status.isOnline
        default: false
        }
    }
}

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
