import Foundation
import HalcyonSystem

/// A finished download.
public struct DownloadResult: Sendable {
    /// The body, unpacked from gzip and deflate; other codings, and parts (206), are as they came. Empty for a 304 and a
    /// 204.
    public var data: Data
    /// The URL that answered in the end.
    public var url: URL
    /// 2xx, or 304 when the request carried a validator.
    public var status: Int
    /// The final answer's header fields.
    public var headers: HTTPHeaders
    public var version: HTTPVersion
    /// Of the transfer that brought the final answer; nil when the transport keeps none.
    public var metrics: TransportMetrics?
    /// Redirects that were followed.
    public var redirectCount: Int
    /// Whether every redirect on the way was a permanent one (301, 308), as it is without any. Behind another one the
    /// answer's freshness says nothing about the URL that was asked for.
    public var redirectsArePermanent: Bool
    /// Attempts that failed before this one.
    public var retryCount: Int
    /// How long it waited for its turn, over all attempts and redirects.
    public var queueTime: Duration = .zero

    /// The body's part of `DownloadRequest.bodyBudget`, for as long as somebody holds it.
    package var hold: ByteBudget.Hold?
    /// Where redirects led, with the fields that hooks have added there.
    var hops: [Hop] = []
    /// For whom it was asked for, as it was sent: by several where an interceptor tried again, by none where it answered.
    package var users: Set<KeyedHash?> = []

    public init(
        data: Data, url: URL, status: Int = 200, headers: HTTPHeaders = HTTPHeaders(), version: HTTPVersion = .http11,
        metrics: TransportMetrics? = nil, redirectCount: Int = 0, redirectsArePermanent: Bool = true,
        retryCount: Int = 0
    ) {
        self.data = data
        self.url = url
        self.status = status
        self.headers = headers
        self.version = version
        self.metrics = metrics
        self.redirectCount = redirectCount
        self.redirectsArePermanent = redirectsArePermanent
        self.retryCount = retryCount
    }

    struct Hop: Sendable {
        let url: URL
        let added: [HTTPHeaders.Field]
    }

    /// Whether the server said that what the caller has is still good.
    public var isNotModified: Bool { status == 304 }

    /// The answer without its body, as the HTTP cache rules read it.
    public var head: HTTPResponseHead { HTTPResponseHead(url: url, status: status, headers: headers, version: version) }
}
