import Foundation
import HalcyonNetwork

/// Whether what a cache holds may answer a request now: by what the server said of it, what the request's fields ask
/// for and what its policy says.
struct FreshnessCheck {
    let freshness: CachePolicy.Freshness
    let control: RequestCacheControl
    let now: Date

    /// By how much an answer may seem to come from the future. Further ahead a clock was wrong, and no time that is
    /// counted from there means anything.
    private static let clockTolerance: TimeInterval = 3600

    /// The rule by which it answers as it is, nil where the server must be asked.
    func rule(for http: HTTPCacheMetadata?) -> CacheRule? {
        if freshness == .ignore { return .ignored }
        guard let http else { return freshness == .revalidate || control.noCache ? nil : .freshByTimeToLive }
        guard !control.noCache, !http.noCache, !http.variesOnEverything, isOfThePast(http) else { return nil }
        if let most = control.maxAge, http.age(at: now) > TimeInterval(most) { return nil }
        guard let left = http.freshUntil?.timeIntervalSince(now) else {
            return freshness == .revalidate ? nil : .freshByTimeToLive
        }
        if left > 0, left >= TimeInterval(control.minFresh ?? 0) {
            if freshness == .revalidate { return http.isImmutable ? .immutable : nil }
            return .fresh
        }
        guard freshness == .respect, left <= 0, control.minFresh == nil, let most = control.maxStale,
            http.mayBeServedStale, -left <= TimeInterval(most)
        else { return nil }
        return .staleByRequest
    }

    /// Whether it answers while the server is asked behind.
    func answersWhileRevalidated(_ http: HTTPCacheMetadata?) -> Bool {
        guard freshness == .respect, let http, let seconds = http.staleWhileRevalidate, http.mayBeServedStale,
            !control.isStrict, isOfThePast(http)
        else { return false }
        return staleness(of: http) <= TimeInterval(seconds)
    }

    /// The rule by which it answers after the server has not given what was asked for.
    func rule(for http: HTTPCacheMetadata?, after error: DownloadError) -> CacheRule? {
        guard http?.mayBeServedStale ?? true, !control.noCache, error.isNoAnswer || error.isServerFailure else {
            return nil
        }
        let limits = [http?.staleIfError, control.staleIfError].compactMap { $0 }
        guard let most = limits.max() else { return error.isNoAnswer ? .staleOffline : nil }
        return http.map(staleness) ?? 0 <= TimeInterval(most) ? .staleIfError : nil
    }

    private func staleness(of http: HTTPCacheMetadata) -> TimeInterval {
        http.freshUntil.map { now.timeIntervalSince($0) } ?? 0
    }

    private func isOfThePast(_ http: HTTPCacheMetadata) -> Bool {
        now.timeIntervalSince(http.responseDate) > -Self.clockTolerance
    }
}

extension DownloadError {
    /// Whether the server could not be asked at all. An answer that is an error is an answer.
    fileprivate var isNoAnswer: Bool {
        switch reason {
        case .offline, .connection, .timeout, .incompleteBody: true
        default: false
        }
    }

    /// The statuses for which RFC 5861, 4 allows a stale answer.
    fileprivate var isServerFailure: Bool {
        if case .httpStatus(let status) = reason { [500, 502, 503, 504].contains(status) } else { false }
    }
}
