import Foundation
import HalcyonSystem

/// The time as the memory cache needs it: cheap, and as a number.
@usableFromInline
struct CacheClock: Sendable {
    private let timeSource: TimeSource?

    /// - Parameter timeSource: nil reads the system's coarse clock: it takes a fifth of the time of the exact one, and
    ///   its steps of a few milliseconds do not matter where entries live for minutes.
    init(_ timeSource: TimeSource?) {
        self.timeSource = timeSource
    }

    /// Seconds since 1970.
    @usableFromInline
    func now() -> Double {
        if let timeSource { return timeSource.now.timeIntervalSince1970 }
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
