import Foundation
import Glibc

/// Where Halcyon reads the time and waits for it, so that a test can turn it by hand.
///
/// Expiry is wall time (it must hold across restarts), so one source serves caches and HTTP freshness alike.
public struct TimeSource: Sendable {
    private let read: @Sendable () -> Date
    private let pause: @Sendable (Duration) async throws -> Void
    private var isSystem = false

    /// - Parameter wait: returns after a duration, or throws `CancellationError` when the task is cancelled; by default
    ///   the system's timer.
    public init(
        _ read: @escaping @Sendable () -> Date,
        wait: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.read = read
        pause = wait
    }

    /// The time now.
    public var now: Date { read() }

    /// The time now, of the system's clock in its steps of a few milliseconds, which takes a fifth of the time to ask.
    package var roughly: Date {
        guard isSystem else { return read() }
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9)
    }

    /// For what plays: a time that nobody sets, of the system's source the one that a screen's frames are counted in.
    package var steady: Duration {
        guard isSystem else { return .seconds(read().timeIntervalSince1970) }
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Returns once the duration has passed.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func wait(for duration: Duration) async throws {
        try await pause(duration)
    }

    /// The system's clock, whose waits end after a year at the latest.
    public static let system: TimeSource = {
        var source = TimeSource({ Date() }, wait: { try await Task.sleep(for: $0.forTimer) })
        source.isSystem = true
        return source
    }()
}

/// A measurement of elapsed time, by a clock that nobody sets.
package struct Stopwatch: Sendable {
    private let started = ContinuousClock.now

    package init() {}

    package var elapsed: Duration { ContinuousClock.now - started }
}

extension Duration {
    /// As long as a timer may be set to: nothing below zero, and no more than a year. The system's timers end the program
    /// where a moment is too far away to be counted.
    package var forTimer: Duration { min(max(self, .zero), .seconds(365 * 86_400)) }
}

/// The processor time of the calling thread.
package enum ThreadTime {
    package static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
