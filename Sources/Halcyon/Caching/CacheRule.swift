import HalcyonNetwork

/// The rule by which a cache answered a request, or by which a server's response was stored or not.
///
/// The sections are those of RFC 9111 unless another RFC is named.
public enum CacheRule: Sendable, Hashable {
    /// A stored response within the freshness lifetime that the server gave (4.2).
    case fresh
    /// A stored response for which the server gave no freshness lifetime. There are no heuristics (4.2.2): the cache's own time
    /// to live decides.
    case freshByTimeToLive
    /// A stored response that is `immutable` and fresh: even a request that asks for revalidation uses it without contacting
    /// the server (RFC 8246).
    case immutable
    /// A stored response that is used whatever its age, because the request's policy ignores freshness.
    case ignored
    /// A stale stored response that the request's `max-stale` allows (5.2.1.2).
    case staleByRequest
    /// A stale stored response that is used while the server is asked in the background (RFC 5861, 3).
    case staleWhileRevalidate
    /// A stale stored response that `stale-if-error` allows because the server failed (RFC 5861, 4).
    case staleIfError
    /// A stale stored response that is used because the server could not be reached (4.2.4).
    case staleOffline
    /// A stored response that the server has confirmed (4.3.3, 4.3.4).
    case revalidated
    /// A response from the server that replaces the stored one (4.3.3).
    case replaced
    /// A response from the server that a cache may store (3), as far as the request's policy writes to one.
    case stored
    /// A response from the server that no cache stores.
    case notStored(Reason)

    /// Whether it is the rule of a response that a cache may store.
    var isStored: Bool { self == .stored || self == .replaced }

    /// The reason why a response is not stored.
    public enum Reason: Sendable, Hashable {
        /// The response says `no-store` (5.2.2.5).
        case noStore
        /// The request said `no-store` (5.2.1.5).
        case requestNoStore
        /// The response has this status. Only whole images are stored: those of status 200 and 203 (3, 3.3).
        case status(Int)
        /// The response is not shared between users, and it was given to a credential that a hook or an interceptor has added,
        /// or that has changed during the load, so that its user is unknown. `DownloadRequest.user` and
        /// `DownloadInterceptor.user` name the user.
        case unknownUser
    }

    /// Whether the response is used past its freshness lifetime.
    public var isStale: Bool {
        switch self {
        case .staleByRequest, .staleWhileRevalidate, .staleIfError, .staleOffline: true
        default: false
        }
    }

    /// Creates the rule for a response with a body.
    init(storing result: DownloadResult, _ http: HTTPCacheMetadata, control: RequestCacheControl, replaces: Bool) {
        if result.status != 200, result.status != 203 {
            self = .notStored(.status(result.status))
        } else if http.noStore {
            self = .notStored(.noStore)
        } else if control.noStore {
            self = .notStored(.requestNoStore)
        } else {
            self = replaces ? .replaced : .stored
        }
    }
}
