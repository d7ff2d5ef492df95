import HalcyonNetwork

/// Which rule let a cache answer, or decided what became of a server's answer.
///
/// The sections are those of RFC 9111 where no other is named.
public enum CacheRule: Sendable, Hashable {
    /// Kept, and within the time that the server gave (4.2).
    case fresh
    /// Kept, and the server gave no time. There are no heuristics (4.2.2): the cache's own time to live decides.
    case freshByTimeToLive
    /// Kept, and `immutable`: within its time even a request that wants revalidation asks nobody (RFC 8246).
    case immutable
    /// Kept, and used whatever its age, as the request's policy says.
    case ignored
    /// Kept, past its time, and the request's `max-stale` allows that (5.2.1.2).
    case staleByRequest
    /// Kept, past its time; the server is asked behind (RFC 5861, 3).
    case staleWhileRevalidate
    /// Kept, past its time; the server failed and `stale-if-error` allows that (RFC 5861, 4).
    case staleIfError
    /// Kept, past its time; the server could not be asked (4.2.4).
    case staleOffline
    /// Kept, and the server said that it still holds (4.3.3, 4.3.4).
    case revalidated
    /// From the server, in place of what was kept (4.3.3).
    case replaced
    /// From the server; a cache may keep it (3), as far as the request's policy writes to one.
    case stored
    /// From the server; no cache keeps it.
    case notStored(Reason)

    /// Why an answer is not kept.
    public enum Reason: Sendable, Hashable {
        /// The answer says `no-store` (5.2.2.5).
        case noStore
        /// The request said `no-store` (5.2.1.5).
        case requestNoStore
        /// Only whole images are kept: those of status 200 and 203 (3, 3.3).
        case status(Int)
        /// The answer is not for all, and was given to a credential that a hook or an interceptor has added, or that has changed
        /// meanwhile: nobody knows whose it is. `DownloadRequest.user` and `DownloadInterceptor.user` say it.
        case unknownUser
    }

    /// Whether it is used past its time.
    public var isStale: Bool {
        switch self {
        case .staleByRequest, .staleWhileRevalidate, .staleIfError, .staleOffline: true
        default: false
        }
    }

    /// What becomes of an answer with a body.
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
