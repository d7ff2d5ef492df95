/// How long a failed attempt waits for the next one.
public struct RetryDelay: Sendable, Hashable {
    private enum Kind: Hashable {
        case fixed(Duration)
        case accumulating(Duration)
        case backoff(base: Duration, maximum: Duration)
        case custom(String)
    }

    private let kind: Kind
    private let compute: @Sendable (_ error: DownloadError, _ retries: Int, _ jitter: Double) -> Duration?

    /// The same each time.
    public static func fixed(_ delay: Duration) -> RetryDelay {
        RetryDelay(kind: .fixed(delay)) { _, _, _ in delay }
    }

    /// Once `step` before the first retry, twice before the second, and so on.
    public static func accumulating(_ step: Duration) -> RetryDelay {
        RetryDelay(kind: .accumulating(step)) { _, retries, _ in step.forTimer * (min(max(retries, 0), 1 << 20) + 1) }
    }

    /// Drawn at random between nothing and a bound that doubles from one attempt to the next, so that many clients do not
    /// come back at once.
    ///
    /// - Parameters:
    ///   - base: the first bound. 0.25 s.
    ///   - maximum: what no bound exceeds. 10 s.
    public static func backoff(
        base: Duration = .milliseconds(250), maximum: Duration = .seconds(10)
    ) -> RetryDelay {
        RetryDelay(kind: .backoff(base: base, maximum: maximum)) { _, retries, jitter in
            var bound = base.forTimer
            for _ in 0..<max(0, min(retries, 32)) where bound < maximum { bound *= 2 }
            return min(bound, maximum.forTimer) * (jitter > 0 ? min(jitter, 1) : 0)
        }
    }

    /// Whatever a closure says.
    ///
    /// - Parameters:
    ///   - identifier: stands for the closure: two of the same are taken for equal, and their downloads share a transfer.
    ///   - delay: given the failure and how many retries there were; nil is no retry. It is asked only about failures
    ///     that may pass by themselves and for which the server has not said how long to wait.
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

    /// Nothing below zero, and no more than a year.
    func delay(after error: DownloadError, retries: Int, jitter: Double) -> Duration? {
        compute(error, retries, jitter)?.forTimer
    }

    public static func == (left: RetryDelay, right: RetryDelay) -> Bool { left.kind == right.kind }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
    }
}
