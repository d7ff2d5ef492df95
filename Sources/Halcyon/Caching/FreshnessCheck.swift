import Foundation
import HalcyonNetwork

/// The decision whether a cached response may be used for a request: by its HTTP metadata, the cache directives of the
/// request's header fields, and the request's policy.
///
/// Memory, disk, encoded images, prefetches and synchronous reads all use it.
struct FreshnessCheck {
    /// The decision on a cached response.
    enum Verdict {
        /// The response may be used by this rule, which is nil for a file or data. `.staleWhileRevalidate` means that the
        /// server has to be asked in the background.
        case answers(CacheRule?)
        /// The server must be asked, for this reason.
        case refused(CacheMiss.Reason)

        var answers: Bool { if case .answers = self { true } else { false } }
    }

    private let resolved: ResolvedRequest
    private let freshness: CachePolicy.Freshness
    private let control: RequestCacheControl
    private let isRemote: Bool

    init(_ resolved: ResolvedRequest) {
        self.resolved = resolved
        // The key of a file or of data identifies its content.
        isRemote = resolved.isRemote
        freshness = isRemote ? resolved.cachePolicy.freshness : .ignore
        control = freshness == .ignore ? .none : resolved.control
    }

    /// Decides whether a cached response may be used before the server is asked.
    ///
    /// - Parameter mayRevalidateInBackground: whether the caller can revalidate a stale response in the background.
    func verdict(on http: HTTPCacheMetadata?, mayRevalidateInBackground: Bool = false) -> Verdict {
        guard isRemote else { return .answers(nil) }
        guard freshness != .ignore else { return .answers(.ignored) }
        guard matchesVaryingFields(http) else { return .refused(.varyMismatch) }
        if let rule = rule(for: http) { return .answers(rule) }
        if mayRevalidateInBackground, resolved.mayRevalidateInBackground, answersWhileRevalidated(http) {
            return .answers(.staleWhileRevalidate)
        }
        return .refused(.expired)
    }

    /// Returns the rule by which a cached response is used after the server has failed to answer; nil if it may not be used.
    func rule(for http: HTTPCacheMetadata?, after error: DownloadError) -> CacheRule? {
        guard http?.mayBeServedStale ?? true, !control.noCache, error.isNoAnswer || error.isServerFailure else {
            return nil
        }
        let limits = [http?.staleIfError, control.staleIfError].compactMap { $0 }
        guard let most = limits.max() else { return error.isNoAnswer ? .staleOffline : nil }
        return http.map(staleness) ?? 0 <= TimeInterval(most) ? .staleIfError : nil
    }

    /// Whether a cached response may be shown, marked as stale, until the server has answered.
    func mayShowStale(_ http: HTTPCacheMetadata?) -> Bool {
        resolved.mayShowStale && http?.mayBeServedStale ?? true && matchesVaryingFields(http)
    }

    /// Whether a response that is no longer fresh may be used without a question of its own once another process has renewed it.
    func mayBeRenewedForAll(_ http: HTTPCacheMetadata) -> Bool {
        guard freshness == .respect, !control.noCache, !http.noCache, !http.variesOnEverything,
            let end = http.freshUntil
        else { return false }
        return end > http.responseDate
    }

    /// Whether the header fields that `Vary` names are those of this request.
    func matchesVaryingFields(_ http: HTTPCacheMetadata?) -> Bool {
        guard let http, http.variesOnEverything || !http.varyValues.isEmpty else { return true }
        return http.matches(requestHeaders: resolved.sentHeaders)
    }

    /// The time in seconds by which a response's date may lie in the future. Beyond that a clock was wrong, and no time counted
    /// from that date is meaningful.
    private static let clockTolerance: TimeInterval = 3600

    /// Returns the rule by which a response is used as it is; nil if the server must be asked.
    private func rule(for http: HTTPCacheMetadata?) -> CacheRule? {
        guard let http else { return freshness == .revalidate || control.noCache ? nil : .freshByTimeToLive }
        let now = now
        guard !control.noCache, !http.noCache, !http.variesOnEverything, isOfThePast(http, now) else { return nil }
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

    /// Whether a response is used while the server is asked in the background.
    private func answersWhileRevalidated(_ http: HTTPCacheMetadata?) -> Bool {
        guard freshness == .respect, let http, let seconds = http.staleWhileRevalidate, http.mayBeServedStale,
            !control.isStrict, isOfThePast(http, now)
        else { return false }
        return staleness(of: http) <= TimeInterval(seconds)
    }

    private var now: Date { resolved.coordinator.configuration.clock.now }

    private func staleness(of http: HTTPCacheMetadata) -> TimeInterval {
        http.freshUntil.map { now.timeIntervalSince($0) } ?? 0
    }

    private func isOfThePast(_ http: HTTPCacheMetadata, _ now: Date) -> Bool {
        now.timeIntervalSince(http.responseDate) > -Self.clockTolerance
    }
}

extension DownloadError {
    /// Whether the server could not be asked at all. An error response counts as an answer.
    fileprivate var isNoAnswer: Bool {
        switch reason {
        case .offline, .connection, .timeout, .incompleteBody: true
        default: false
        }
    }

    /// Whether the status is one for which RFC 5861, 4 allows a stale response.
    fileprivate var isServerFailure: Bool {
        if case .httpStatus(let status) = reason { [500, 502, 503, 504].contains(status) } else { false }
    }
}
