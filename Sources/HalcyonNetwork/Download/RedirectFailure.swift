/// The reason why a redirect was not followed.
public enum RedirectFailure: Sendable, Hashable, CustomStringConvertible {
    /// It leads back to a URL of the same chain.
    case loop
    /// There were more redirects than the limit.
    case tooMany(limit: Int)
    /// It has no location, or one that is not a URL.
    case badLocation
    /// It leads to another scheme than http and https.
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
