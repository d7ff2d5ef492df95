import Foundation
import HalcyonSystem

/// A clock that stands still until it is turned by hand.
public final class ManualClock: Sendable {
    private let time: Lock<Date>

    /// Starts at a moment; by default in the middle of a second in November 2023.
    public init(_ start: Date = Date(timeIntervalSince1970: 1_700_000_000.5)) {
        time = Lock(start)
    }

    /// The moment at which it stands. Setting it may also turn it back.
    public var now: Date {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }

    /// Turns it on, or back by a negative duration.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        time.withLock { $0 += TimeInterval(seconds) + TimeInterval(attoseconds) * 1e-18 }
    }

    /// The clock as what caches read the time from.
    public var timeSource: TimeSource { TimeSource { self.now } }
}
