import Foundation

/// How long an entry is kept, counted from the moment it is stored.
///
/// This is the cache's own time, which an access may extend; how long a response is *fresh* is another matter, and
/// stands in the entry's metadata.
public enum StorageExpiration: Sendable, Hashable {
    /// Kept until room is needed.
    case never
    /// Seconds from the moment of storing.
    case seconds(TimeInterval)
    /// Days of 24 hours from the moment of storing.
    case days(Int)
    /// A moment. An access extends it by the time there was between storing and this moment.
    case date(Date)
    /// Over already: nothing is stored.
    case expired

    /// Seconds an entry stored at `now` is kept: infinity for never, zero or less for one that is over already.
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
