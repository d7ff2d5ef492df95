import Foundation
import HalcyonSystem

/// What to download, and within which bounds.
public struct DownloadRequest: Sendable {
    /// An http or https URL.
    public var url: URL
    /// Header fields beside the downloader's own; these win.
    public var headers: HTTPHeaders
    /// Shown to the origin of the URL, in place of an `Authorization` field. None by default.
    public var credential: Credential?
    /// The name of who shows the credential, by which caches know whose answer they have. Nil, the default, is told by the
    /// credential itself.
    public var user: String?
    /// How long it may take; nil, the default, is as the downloader's configuration says.
    public var timeouts: DownloadTimeouts?
    /// The largest body in bytes, on the wire and again once it is unpacked. 200 MB.
    public var maximumBytes: Int
    /// The most redirects in a row. 20.
    public var maximumRedirects: Int
    /// How urgent it is while it waits for its turn; `DownloadTicket` changes it later.
    public var priority: RequestPriority
    /// How failures are retried; nil is the downloader's policy.
    public var retry: RetryPolicy?
    /// Whether progress carries the bytes that have arrived. False by default: they are kept twice then until the end.
    /// A transfer that runs already for somebody who did not ask for them does not show them.
    public var exposesBody = false
    /// What is done to this transfer alone, after the downloader's own hooks. Nil by default.
    public var hooks: RequestHooks?
    /// Told on no particular thread; of two downloads that share a transfer, the one that started it.
    package var observe: (@Sendable (DownloadEvent) -> Void)?
    /// What the finished body is to have room in. Until there is some it keeps its place among the transfers, so that no
    /// other begins meanwhile.
    package var bodyBudget: ByteBudget?

    public init(
        url: URL, headers: HTTPHeaders = HTTPHeaders(), credential: Credential? = nil,
        timeouts: DownloadTimeouts? = nil, maximumBytes: Int = 200_000_000, maximumRedirects: Int = 20,
        priority: RequestPriority = .normal,
        retry: RetryPolicy? = nil
    ) {
        self.url = url
        self.headers = headers
        self.credential = credential
        self.timeouts = timeouts
        self.maximumBytes = maximumBytes
        self.maximumRedirects = maximumRedirects
        self.priority = priority
        self.retry = retry
    }
}
