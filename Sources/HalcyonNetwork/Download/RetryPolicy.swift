import Foundation

/// The policy that decides whether a failed attempt is retried, and after which delay.
///
/// Only failures that may be temporary are retried: a broken connection, an incomplete body, a connection that took too
/// long to establish, and the statuses 408, 429, 502, 503 and 504. A cancelled download is not retried, nor is a body
/// that is too large or cannot be decompressed.
public struct RetryPolicy: Sendable, Hashable {
    /// The largest number of retries after the first attempt. 2.
    public var maximumRetries: Int
    /// The delay before each retry. `.backoff()`.
    public var delay: RetryDelay
    /// The longest wait that is accepted from a server's `Retry-After`; if the server requests more, there is no retry. 30 s.
    public var maximumRetryAfter: Duration
    /// The time for which a download that found no network waits for one, to be tried once more then, in addition to
    /// `maximumRetries`. Nil, the default, does not wait.
    ///
    /// No network means `DownloadError.Reason.offline`, or a host that was not found or not reached while the
    /// downloader's `networkMonitor` reports that there is no route to the network.
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

    /// A policy without retries.
    public static let never = RetryPolicy(maximumRetries: 0)

    /// Returns the delay before the next attempt, nil if there is none.
    ///
    /// - Parameters:
    ///   - retries: The number of retries so far.
    ///   - jitter: The fraction of a random delay to wait, from 0 to 1.
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
        // All declared bytes came, and the compressed data in them is incomplete: a retry would end in the same way.
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
