/// What an access does to the time an entry is kept. It never shortens it.
public enum ExpirationExtension: Sendable, Hashable {
    /// Nothing.
    case none
    /// The entry is kept for its own lifetime again, counted from now.
    case cacheTime
    /// The entry is kept for this long, counted from now.
    case expirationTime(Duration)

    /// Seconds to keep the entry from now on; nil leaves it as it is.
    @inlinable
    func lifetime(own: Double) -> Double? {
        switch self {
        case .none: nil
        case .cacheTime: own
        case .expirationTime(let duration): duration.inSeconds
        }
    }
}
