import Foundation

/// When a failed attempt is tried again, and how long it waits before.
///
/// Only what may pass by itself is retried: a broken connection, a body that ended before its end, a connection that took
/// too long, and the statuses 408, 429, 502, 503 and 504. A cancelled download is not, nor is a body that is too large or
/// cannot be unpacked.
public struct RetryPolicy: Sendable, Hashable {
    /// Retries after the first attempt. 2.
    public var maximumRetries: Int
    /// How long to wait before each. `.backoff()`.
    public var delay: RetryDelay
    /// The longest wait that a server may ask for with Retry-After; asked for more, it is not retried. 30 s.
    public var maximumRetryAfter: Duration
    /// How long a download that found no network waits for it to come back, and is tried once more then, besides
    /// `maximumRetries`. Nil, the default, does not wait.
    ///
    /// No network means `DownloadError.Reason.offline`, or a host that was not found or not reached while the
    /// downloader's `networkMonitor` says that there is no way out.
    public var networkWait: Duration?

    public init(
        maximumRetries: Int = 2, delay: RetryDelay = .backoff(), maximumRetryAfter: Duration = .seconds(30),
        networkWait: Duration? = nil
    ) {
        self.maximumRetries = maximumRetries
        self.delay = delay
        self.maximumRetryAfter = maximumRetryAfter
        self.networkWait = networkWait
    }

    /// Never tries again.
    public static let never = RetryPolicy(maximumRetries: 0)

    /// How long to wait before the next attempt, nil when there is none.
    ///
    /// - Parameters:
    ///   - retries: how many there were already.
    ///   - jitter: from 0 to 1, the part of a random delay to wait.
    package func delay(after error: DownloadError, retries: Int, jitter: Double, now: Date) -> Duration? {
        guard retries < maximumRetries, Self.mayPass(error) else { return nil }
        if let asked = Self.retryAfter(error, now: now) {
            return asked <= maximumRetryAfter ? asked : nil
        }
        return delay.delay(after: error, retries: retries, jitter: jitter)
    }

    private static func mayPass(_ error: DownloadError) -> Bool {
        switch error.reason {
        case .connection(.reset), .timeout(.connect): true
        // All that was promised came, and it is cut within what is packed: so it would be the next time.
        case .incompleteBody(let received, nil): error.responseHeaders["Content-Length"] != "\(received)"
        case .incompleteBody: true
        case .httpStatus(let status): [408, 429, 502, 503, 504].contains(status)
        default: false
        }
    }

    private static func retryAfter(_ error: DownloadError, now: Date) -> Duration? {
        guard let text = error.responseHeaders["Retry-After"]?.trimmingCharacters(in: .whitespaces) else { return nil }
        if let seconds = Int(text) { return .seconds(max(0, seconds)) }
        guard let date = HTTPDate.parse(text, now: now) else { return nil }
        return .seconds(max(0, date.timeIntervalSince(now)))
    }
}
