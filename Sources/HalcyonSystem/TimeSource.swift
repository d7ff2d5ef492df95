import Foundation

/// Where Halcyon reads the time and waits for it, so that a test can turn it by hand.
///
/// Expiry is wall time (it must hold across restarts), so one source serves caches and HTTP freshness alike.
public struct TimeSource: Sendable {
    private let read: @Sendable () -> Date
    private let pause: @Sendable (Duration) async throws -> Void

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

    /// Returns once the duration has passed.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func wait(for duration: Duration) async throws {
        try await pause(duration)
    }

    /// The system's clock, whose waits end after a year at the latest.
    public static let system = TimeSource({ Date() }, wait: { try await Task.sleep(for: $0.forTimer) })
}
