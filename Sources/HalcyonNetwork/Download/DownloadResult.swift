import Foundation
import HalcyonSystem

/// The result of a finished download.
public struct DownloadResult: Sendable {
    /// The body, decompressed from gzip and deflate; other codings, and parts (206), are as received. Empty for a 304
    /// and a 204.
    public var data: Data
    /// The final URL after redirects.
    public var url: URL
    /// The status: 2xx, or 304 if the request had a validator.
    public var status: Int
    /// The header fields of the final response.
    package var headers: HTTPHeaders
    /// The protocol version of the final response.
    public var version: HTTPVersion
    /// The metrics of the transfer of the final response; nil if the transport has none.
    public var metrics: TransportMetrics?
    /// The number of redirects that were followed.
    public var redirectCount: Int
    /// Whether all redirects were permanent (301, 308); true if there were none. After another kind of redirect, the
    /// freshness of the response does not apply to the requested URL.
    public var redirectsArePermanent: Bool
    /// The number of attempts that failed before this one.
    public var retryCount: Int
    /// The time that the download waited for a slot, over all attempts and redirects.
    public var queueTime: Duration = .zero

    /// The reservation of the body in `DownloadRequest.bodyBudget`, valid for as long as it is referenced.
    package var hold: ByteBudget.Hold?
    /// The targets of the redirects, with the fields that hooks have added there.
    var hops: [Hop] = []
    /// The users for whom the request was sent: several if an interceptor sent it again, none if an interceptor
    /// provided the result.
    package var users: Set<KeyedHash?> = []

    /// Creates a result, for an interceptor that returns one of its own. By default it is a 200 without header fields.
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

    /// Whether the server confirmed that the caller's copy is still valid.
    public var isNotModified: Bool { status == 304 }

    /// The response without its body, for the HTTP caching rules.
    package var head: HTTPResponseHead {
        HTTPResponseHead(url: url, status: status, headers: headers, version: version)
    }
}
