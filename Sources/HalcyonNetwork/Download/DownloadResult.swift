import Foundation

/// A finished download.
public struct DownloadResult: Sendable {
    /// The body, unpacked. Empty for a 304 and a 204.
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
    /// Attempts that failed before this one.
    public var retryCount: Int

    public init(
        data: Data, url: URL, status: Int = 200, headers: HTTPHeaders = HTTPHeaders(), version: HTTPVersion = .http11,
        metrics: TransportMetrics? = nil, redirectCount: Int = 0, retryCount: Int = 0
    ) {
        self.data = data
        self.url = url
        self.status = status
        self.headers = headers
        self.version = version
        self.metrics = metrics
        self.redirectCount = redirectCount
        self.retryCount = retryCount
    }

    /// Whether the server said that what the caller has is still good.
    public var isNotModified: Bool { status == 304 }

    /// The answer without its body, as the HTTP cache rules read it.
    public var head: HTTPResponseHead { HTTPResponseHead(url: url, status: status, headers: headers, version: version) }
}
