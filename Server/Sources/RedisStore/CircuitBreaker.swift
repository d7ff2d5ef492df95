/// The decision whether a server that fails is asked.
///
/// Three failures in a row suspend it for a second. Then one probe is sent, without a caller that waits for it; each that fails
/// doubles the time, up to half a minute. The time is shortened by up to a quarter at random, so that the processes of a fleet
/// do not come back at once.
struct CircuitBreaker: Sendable {
    private enum State {
        case closed(failures: Int)
        case open(suspensions: Int)
    }

    static let failuresInARow = 3
    static let firstSuspension = Duration.seconds(1)
    static let longestSuspension = Duration.seconds(30)

    private var state = State.closed(failures: 0)

    /// Whether calls are sent.
    var isClosed: Bool { if case .closed = state { true } else { false } }

    /// Notes an answer of the server to a call.
    mutating func succeeded() {
        if isClosed { state = .closed(failures: 0) }
    }

    /// Notes a failure of a call.
    ///
    /// - Returns: whether the server is suspended by it.
    mutating func failed() -> Bool {
        guard case .closed(let failures) = state else { return false }
        let suspends = failures + 1 >= Self.failuresInARow
        state = suspends ? .open(suspensions: 1) : .closed(failures: failures + 1)
        return suspends
    }

    /// Notes the result of a probe.
    mutating func probed(succeeded: Bool) {
        guard case .open(let suspensions) = state else { return }
        state = succeeded ? .closed(failures: 0) : .open(suspensions: suspensions + 1)
    }

    /// The time until the next probe; nil if calls are sent.
    func suspension(shortenedBy random: Double = .random(in: 0...0.25)) -> Duration? {
        guard case .open(let suspensions) = state else { return nil }
        let doubled = Self.firstSuspension * (1 << min(suspensions - 1, 5))
        return min(doubled, Self.longestSuspension) * (1 - random)
    }
}
