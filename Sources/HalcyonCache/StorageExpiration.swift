import Foundation
import HalcyonSystem

/// The time for which an entry is kept, counted from the moment it is stored.
///
/// This is the cache's own expiration, which an access may extend. The *freshness* of a response is separate and is kept in
/// the entry's metadata.
public enum StorageExpiration: Sendable, Hashable {
    /// The entry is kept until room is needed.
    case never
    /// The number of seconds from the moment of storing.
    case seconds(TimeInterval)
    /// The number of days of 24 hours from the moment of storing.
    case days(Int)
    /// A point in time. An access extends it by the time between storing and this point.
    case date(Date)
    /// Already expired: nothing is stored.
    case expired

    /// Returns the time at which an entry stored at `now` expires: the distant future for never, `now` or earlier if it has
    /// already expired.
    public func end(from now: Date) -> Date {
        let lifetime = lifetime(from: now)
        return lifetime.isFinite ? now.addingTimeInterval(lifetime) : lifetime > 0 ? .distantFuture : now
    }

    /// Returns the seconds for which an entry stored at `now` is kept: infinity for never, zero or less if it has already
    /// expired.
    @usableFromInline
    package func lifetime(from now: Date) -> TimeInterval {
        let seconds: TimeInterval =
            switch self {
            case .never: .infinity
            case .seconds(let seconds): seconds
            case .days(let days): TimeInterval(days) * 86_400
            case .date(let date): date.timeIntervalSince(now)
            case .expired: 0
            }
        return seconds.isNaN ? 0 : seconds
    }
}

/// The effect of an access on an entry's expiration. An access never shortens it.
public enum ExpirationExtension: Sendable, Hashable {
    /// The expiration is unchanged.
    case none
    /// The entry is kept for its own lifetime again, counted from now.
    case cacheTime
    /// The entry is kept for this duration, counted from now.
    case expirationTime(Duration)

    /// Returns the seconds to keep the entry from now on; nil leaves its expiration unchanged.
    @inlinable
    func lifetime(own: Double) -> Double? {
        switch self {
        case .none: nil
        case .cacheTime: own
        case .expirationTime(let duration): duration.inSeconds
        }
    }
}
