import Foundation

/// When a failed attempt is tried again, and how long it waits before.
///
/// Only what may pass by itself is retried: a broken connection, a connection that took too long, and the statuses 408,
/// 429, 502, 503 and 504. The delay doubles from one attempt to the next and is drawn at random below that bound, so
/// that many clients do not come back at once.
public struct RetryPolicy: Sendable, Hashable {
    /// Retries after the first attempt. 2.
    public var maximumRetries: Int
    /// The bound of the first delay. 0.25 s.
    public var baseDelay: Duration
    /// The bound that no delay exceeds. 10 s.
    public var maximumDelay: Duration
    /// The longest wait that a server may ask for with Retry-After; asked for more, it is not retried. 30 s.
    public var maximumRetryAfter: Duration

    public init(
        maximumRetries: Int = 2, baseDelay: Duration = .milliseconds(250), maximumDelay: Duration = .seconds(10),
        maximumRetryAfter: Duration = .seconds(30)
    ) {
        self.maximumRetries = maximumRetries
        self.baseDelay = baseDelay
        self.maximumDelay = maximumDelay
        self.maximumRetryAfter = maximumRetryAfter
    }

    /// Never tries again.
    public static let never = RetryPolicy(maximumRetries: 0)

    /// How long to wait before the next attempt, nil when there is none.
    ///
    /// - Parameters:
    ///   - retries: how many there were already.
    ///   - jitter: from 0 to 1, the part of the bound to wait.
    package func delay(after error: DownloadError, retries: Int, jitter: Double, now: Date) -> Duration? {
        guard retries < maximumRetries, Self.mayPass(error.reason) else { return nil }
        if let asked = Self.retryAfter(error, now: now) {
            return asked <= maximumRetryAfter ? asked : nil
        }
        var bound = baseDelay
        for _ in 0..<min(retries, 32) where bound < maximumDelay { bound *= 2 }
        return min(bound, maximumDelay) * jitter
    }

    private static func mayPass(_ reason: DownloadError.Reason) -> Bool {
        switch reason {
        case .connection(.reset), .timeout(.connect): true
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
