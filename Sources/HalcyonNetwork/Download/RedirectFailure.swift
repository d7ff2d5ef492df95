/// Why a redirect was not followed.
public enum RedirectFailure: Sendable, Hashable, CustomStringConvertible {
    /// It leads back to a URL that redirected here.
    case loop
    /// There were more than the limit.
    case tooMany(limit: Int)
    /// It names no place, or none that is a URL.
    case badLocation
    /// It leads out of http and https.
    case schemeNotAllowed(String)

    public var description: String {
        switch self {
        case .loop: "it leads in a circle"
        case .tooMany(let limit): "more than \(limit) in a row"
        case .badLocation: "its location is missing or no URL"
        case .schemeNotAllowed(let scheme): "its scheme is '\(scheme)'"
        }
    }
}
