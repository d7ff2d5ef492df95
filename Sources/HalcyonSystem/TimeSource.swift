import Foundation

/// Where Halcyon reads the time, so that a test can turn it by hand.
///
/// Expiry is wall time (it must hold across restarts), so one source serves caches and HTTP freshness alike.
public struct TimeSource: Sendable {
    private let read: @Sendable () -> Date

    public init(_ read: @escaping @Sendable () -> Date) {
        self.read = read
    }

    /// The time now.
    public var now: Date { read() }

    /// The system's clock.
    public static let system = TimeSource { Date() }
}
