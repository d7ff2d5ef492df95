import Halcyon
import Testing

/// One row of the table: a response, some time, a second request, and the result by HTTP's rules.
struct HTTPCacheCase: Sendable, CustomTestStringConvertible {
    /// The origin of the second image.
    enum Delivery: Sendable, Equatable {
        /// The first response's, from memory or, where that was cleared, from disk.
        case cache
        /// The first response's, past its time.
        case stale
        /// The first response's, which the server confirmed.
        case revalidated
        /// The second response's.
        case network
        /// None: the load fails with this code.
        case error(String)
    }

    /// The server's response to the second request.
    enum Answer: Sendable {
        case changed(HTTPHeaders)
        /// 304 first, then another image if it is requested again.
        case notModified(HTTPHeaders)
        case status(Int)
        case offline
    }

    let section: String
    let what: String
    var status = 200
    var first: HTTPHeaders = [:]
    var firstRequest: HTTPHeaders = [:]
    /// Seconds between the two.
    var after = 0.0
    var request: HTTPHeaders = [:]
    var freshness = CachePolicy.Freshness.respect
    var allowsNetwork = true
    var answer = Answer.changed(["ETag": "\"two\""])
    /// The fields that the second request must carry; it has no validators besides. Nil for no request at all.
    var sends: HTTPHeaders?
    /// Requests after the first; nil is one where something is sent, else none.
    var count: Int?
    let delivers: Delivery
    let rule: CacheRule?

    var requests: Int { count ?? (sends == nil ? 0 : 1) }
    var testDescription: String { "\(section): \(what)" }
}

extension HTTPCacheCase {
    /// A row whose second request the cache answers.
    static func kept(
        _ section: String, _ what: String, _ control: String, after: Double = 0, asking: HTTPHeaders = [:],
        rule: CacheRule = .fresh
    ) -> HTTPCacheCase {
        HTTPCacheCase(
            section: section, what: what, first: ["Cache-Control": control, "ETag": "\"one\""], after: after,
            request: asking, delivers: rule.isStale ? .stale : .cache, rule: rule)
    }

    /// A row whose second request is sent with the first answer's entity tag, and answered with another image.
    static func asked(
        _ section: String, _ what: String, _ control: String, after: Double = 0, asking: HTTPHeaders = [:]
    ) -> HTTPCacheCase {
        HTTPCacheCase(
            section: section, what: what, first: ["Cache-Control": control, "ETag": "\"one\""], after: after,
            request: asking, sends: ["If-None-Match": "\"one\""], delivers: .network, rule: .replaced)
    }

    /// A row whose server fails to answer after a minute of freshness and `after` seconds more.
    static func failing(
        _ section: String, _ what: String, _ control: String, after: Double, _ answer: Answer,
        asking: HTTPHeaders = [:],
        count: Int? = nil, _ delivers: Delivery, _ rule: CacheRule? = nil
    ) -> HTTPCacheCase {
        HTTPCacheCase(
            section: section, what: what, first: ["Cache-Control": "max-age=60" + control, "ETag": "\"one\""],
            after: 60 + after, request: asking, answer: answer, sends: ["If-None-Match": "\"one\""], count: count,
            delivers: delivers, rule: rule)
    }

    /// A row of a response that is not kept: the second request has no validators.
    static func notKept(
        _ section: String, _ what: String, status: Int = 200, _ first: HTTPHeaders, firstRequest: HTTPHeaders = [:]
    ) -> HTTPCacheCase {
        HTTPCacheCase(
            section: section, what: what, status: status, first: first, firstRequest: firstRequest,
            sends: [:], delivers: .network, rule: .stored)
    }
}
