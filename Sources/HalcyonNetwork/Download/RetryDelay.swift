/// The delay between a failed attempt and the next one.
public struct RetryDelay: Sendable, Hashable {
    private enum Kind: Hashable {
        case fixed(Duration)
        case accumulating(Duration)
        case backoff(base: Duration, maximum: Duration)
        case custom(String)
    }

    private let kind: Kind
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
    ///   - base: The first bound. 0.25 s.
    ///   - maximum: The largest bound. 10 s.
    public static func backoff(
        base: Duration = .milliseconds(250), maximum: Duration = .seconds(10)
    ) -> RetryDelay {
        RetryDelay(kind: .backoff(base: base, maximum: maximum)) { _, retries, jitter in
            var bound = base.forTimer
            for _ in 0..<max(0, min(retries, 32)) where bound < maximum { bound *= 2 }
            return min(bound, maximum.forTimer) * (jitter > 0 ? min(jitter, 1) : 0)
        }
    }

    /// Returns a delay that a closure computes.
    ///
    /// - Parameters:
    ///   - identifier: The identity of the closure: two with the same one count as equal, and their downloads share a
    ///     transfer.
    ///   - delay: Returns the delay for a failure and the number of retries so far; nil ends the retries. It is called
    ///     only for
    ///     failures that may be temporary and for which the server has not sent a delay.
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
