import Foundation
import HalcyonSystem

/// The clock of the memory cache: cheap to read, with the time as a number.
@usableFromInline
struct CacheClock: Sendable {
    private let timeSource: TimeSource?

    /// Creates a clock.
    ///
    /// - Parameter timeSource: nil reads the system's coarse clock, which takes a fifth of the time of the exact one. Its
    ///   steps of a few milliseconds do not matter for entries that live for minutes.
    init(_ timeSource: TimeSource?) {
        self.timeSource = timeSource
    }

    /// Returns the seconds since 1970.
    @usableFromInline
    func now() -> Double {
        if let timeSource { return timeSource.now.timeIntervalSince1970 }
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
