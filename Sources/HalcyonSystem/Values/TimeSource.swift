import Foundation
import Glibc

/// The clock that Halcyon reads the time from and waits with, replaceable in tests.
///
/// Expiry is in wall-clock time, since it must hold across restarts, so one source serves caches and HTTP freshness alike.
public struct TimeSource: Sendable {
    private let read: @Sendable () -> Date
    private let pause: @Sendable (Duration) async throws -> Void
    private var isSystem = false

    /// Creates a clock.
    ///
    /// - Parameters:
    ///   - read: returns the current time; called on any thread.
    ///   - wait: returns after a duration, or throws `CancellationError` when the task is cancelled; by default, the
    ///     system's timer.
    public init(
        _ read: @escaping @Sendable () -> Date,
        wait: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.read = read
        pause = wait
    }

    /// The current time.
    public var now: Date { read() }

    /// The current time of the system's coarse clock, which advances in steps of a few milliseconds and takes a fifth of the
    /// time to read.
    package var roughly: Date {
        guard isSystem else { return read() }
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9)
    }

    /// The time for animations. For the system's source it is the monotonic clock, which is never set and in which a screen's
    /// frames are counted.
    package var steady: Duration {
        guard isSystem else { return .seconds(read().timeIntervalSince1970) }
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Waits for a duration.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func wait(for duration: Duration) async throws {
        try await pause(duration)
    }

    /// The system's clock. Its waits end after a year at the latest.
    public static let system: TimeSource = {
        var source = TimeSource({ Date() }, wait: { try await Task.sleep(for: $0.forTimer) })
        source.isSystem = true
        return source
    }()
}

/// A measurement of elapsed time, by a clock that is never set.
package struct Stopwatch: Sendable {
    private let started = ContinuousClock.now

    package init() {}

    package var elapsed: Duration { ContinuousClock.now - started }
}

extension Duration {
    /// The duration clamped to the range of a timer: from zero to a year. The system's timers crash the program on a deadline
    /// that is too far away to be represented.
    package var forTimer: Duration { min(max(self, .zero), .seconds(365 * 86_400)) }

    /// The duration in seconds, to the precision of a `Double`.
    @usableFromInline
    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}

/// The processor time of the calling thread, and of the process.
package enum ProcessorTime {
    package static var ofThread: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// To the microsecond. The clock of a process advances with the kernel's ticks, of 4 ms, once there is a limit on it.
    package static var ofProcess: Duration {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(.zero) { $0 + .seconds($1.tv_sec) + .microseconds($1.tv_usec) }
    }
}

/// Work that is repeated for as long as this object lives.
package final class RepeatingWork: Sendable {
    private let task: Task<Void, Never>

    /// - Parameters:
    ///   - interval: the time from the end of one run to the start of the next, and before the first.
    ///   - body: the work; it must not retain the owner of this object.
    package init(every interval: Duration, timeSource: TimeSource, _ body: @escaping @Sendable () async -> Void) {
        task = Task.detached(priority: .low) {
            while (try? await timeSource.wait(for: interval)) != nil, !Task.isCancelled { await body() }
        }
    }

    deinit {
        task.cancel()
    }
}
