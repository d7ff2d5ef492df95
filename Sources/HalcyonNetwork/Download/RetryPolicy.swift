import Foundation

/// The policy that decides whether a failed attempt is retried, and after which delay.
///
/// `failures` lists the failures that are retried. By default they are those that may be temporary: a broken connection,
/// an incomplete body, a connection that took too long to establish, and the statuses 408, 429, 502, 503 and 504. A
/// `RetryDelay.custom` is asked about every failure instead. A cancelled download is never retried.
public struct RetryPolicy: Sendable, Hashable {
    /// The largest number of retries after the first attempt. 2 by default.
    public var maximumRetries: Int
    /// The delay before each retry. `.backoff()` by default.
    public var delay: RetryDelay
    /// The failures that are retried. `.temporary` by default; a `RetryDelay.custom` decides in place of it.
    public var failures: RetryableFailures
    /// The longest wait that is accepted from a server's `Retry-After`; if the server requests more, there is no retry.
    /// 30 s by default.
    public var maximumRetryAfter: Duration
    /// The time for which a download that found no network waits for one, to be tried once more then, in addition to
    /// `maximumRetries`. Nil, the default, does not wait.
    ///
    /// No network means `DownloadError.Reason.offline`, or a host that was not found or not reached while the
    /// downloader's `networkMonitor` reports that there is no route to the network.
    public var networkWait: Duration?

    /// Creates a policy; omitted arguments take the defaults that the properties state.
    public init(
        maximumRetries: Int = 2, delay: RetryDelay = .backoff(), maximumRetryAfter: Duration = .seconds(30),
        networkWait: Duration? = nil, failures: RetryableFailures = .temporary
    ) {
        self.maximumRetries = maximumRetries
        self.delay = delay
        self.failures = failures
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
        guard retries < maximumRetries, delay.isCustom || failures.contains(error),
            let own = delay.delay(after: error, retries: retries, jitter: jitter)
        else { return nil }
        guard let asked = Self.retryAfter(error, now: now) else { return own }
        guard asked <= maximumRetryAfter else { return nil }
        return delay.isCustom ? max(own, asked) : asked
    }

    private static func retryAfter(_ error: DownloadError, now: Date) -> Duration? {
        guard let text = error.responseHeaders["Retry-After"]?.trimmingCharacters(in: .whitespaces) else { return nil }
        if let seconds = Int(text) { return .seconds(max(0, seconds)) }
        guard let date = HTTPDate.parse(text, now: now) else { return nil }
        return .seconds(max(0, date.timeIntervalSince(now)))
    }
}

/// The delay between a failed attempt and the next one.
public struct RetryDelay: Sendable, Hashable {
    private enum Kind: Hashable {
        case fixed(Duration)
        case accumulating(Duration)
        case backoff(base: Duration, maximum: Duration)
        case custom(String)
    }

    private let kind: Kind
    /// Whether a closure of the program decides about every failure.
    var isCustom: Bool {
        if case .custom = kind { true } else { false }
    }
    private let compute: @Sendable (_ error: DownloadError, _ retries: Int, _ jitter: Double) -> Duration?

    /// Returns a delay that is always the same.
    public static func fixed(_ delay: Duration) -> RetryDelay {
        RetryDelay(kind: .fixed(delay)) { _, _, _ in delay }
    }

    /// Returns a delay that grows linearly: `step` before the first retry, twice `step` before the second, and so on.
    public static func accumulating(_ step: Duration) -> RetryDelay {
        RetryDelay(kind: .accumulating(step)) { _, retries, _ in step.forTimer * (min(max(retries, 0), 1 << 20) + 1) }
    }

    /// Returns a random delay below a bound that doubles from one attempt to the next, so that many clients do not
    /// return at the same time.
    ///
    /// - Parameters:
    ///   - base: The first bound. 0.25 s by default.
    ///   - maximum: The largest bound. 10 s by default.
    public static func backoff(
        base: Duration = .milliseconds(250), maximum: Duration = .seconds(10)
    ) -> RetryDelay {
        RetryDelay(kind: .backoff(base: base, maximum: maximum)) { _, retries, jitter in
            var bound = base.forTimer
            for _ in 0..<max(0, min(retries, 32)) where bound < maximum { bound *= 2 }
            return min(bound, maximum.forTimer) * (jitter > 0 ? min(jitter, 1) : 0)
        }
    }

    /// Returns a delay that a closure computes, which also decides which failures are retried.
    ///
    /// - Parameters:
    ///   - identifier: The identity of the closure: two with the same one count as equal, and their downloads share a
    ///     transfer.
    ///   - delay: Returns the delay for a failure and the number of retries so far; nil ends the retries. It is called
    ///     for every failure of an attempt, whatever `RetryPolicy.failures` lists, up to `maximumRetries` retries, but
    ///     not after a cancellation nor where `networkWait` waits. If the server has sent a delay, the longer of the two
    ///     counts; one of more than `maximumRetryAfter` ends the retries.
    public static func custom(
        _ identifier: String, _ delay: @escaping @Sendable (_ error: DownloadError, _ retries: Int) -> Duration?
    ) -> RetryDelay {
        RetryDelay(kind: .custom(identifier)) { error, retries, _ in delay(error, retries) }
    }

    private init(
        kind: Kind, _ compute: @escaping @Sendable (DownloadError, Int, Double) -> Duration?
    ) {
        self.kind = kind
        self.compute = compute
    }

    /// Returns the delay, limited to between zero and one year.
    func delay(after error: DownloadError, retries: Int, jitter: Double) -> Duration? {
        compute(error, retries, jitter)?.forTimer
    }

    public static func == (left: RetryDelay, right: RetryDelay) -> Bool { left.kind == right.kind }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
    }
}
