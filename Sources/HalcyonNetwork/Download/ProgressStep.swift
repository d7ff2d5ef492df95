import HalcyonSystem

/// How far a transfer advances between two reports of its progress.
///
///     request.progressStep = ProgressStep(fraction: 0.05, interval: .milliseconds(100))
///
/// The first progress is reported in any case, and so are the last byte of a body of known length, a length that has
/// changed, and fewer bytes than in the last report, after an attempt that failed. In between, both the fraction and the
/// interval must have passed since the last report.
public struct ProgressStep: Hashable, Sendable {
    /// The fraction of the whole body, from 0 to 1. 0 by default, and in place of a negative number and of one that is not
    /// a number: every chunk counts. It has no effect while the length of the body is unknown.
    public var fraction: Double
    /// The time. Zero by default.
    public var interval: Duration

    /// Creates a step; by default one that reports each chunk.
    public init(fraction: Double = 0, interval: Duration = .zero) {
        self.fraction = fraction
        self.interval = interval
    }
}

/// The progress that is reported in steps.
package struct ProgressGate: Sendable {
    private let step: ProgressStep
    private var last: (received: Int, expected: Int?, time: Duration)?

    package init(_ step: ProgressStep) {
        self.step = step
    }

    /// Returns whether a progress is reported.
    ///
    /// - Parameter time: the time of a clock that is not set.
    package mutating func admits(_ received: Int, of expected: Int?, at time: Duration) -> Bool {
        guard isDue(received, of: expected, at: time) else { return false }
        last = (received, expected, time)
        return true
    }

    private func isDue(_ received: Int, of expected: Int?, at time: Duration) -> Bool {
        guard let last, received >= last.received, expected == last.expected, received != expected else { return true }
        // A test's clock may be set back.
        if time >= last.time, time - last.time < step.interval { return false }
        guard let expected, step.fraction > 0 else { return true }
        return Double(received) - Double(last.received) >= step.fraction * Double(expected)
    }
}

extension ProgressStep {
    /// Returns a handler that calls `handler` in these steps, by the time of `source`.
    func thinning(
        _ handler: @escaping @Sendable (DownloadProgress) -> Void, by source: TimeSource
    ) -> @Sendable (DownloadProgress) -> Void {
        let gate = Lock(ProgressGate(self))
        return { progress in
            let time = source.steady
            let isDue = gate.withLock { $0.admits(progress.received, of: progress.expected, at: time) }
            if isDue { handler(progress) }
        }
    }
}
