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
