import Foundation
import HalcyonSystem

/// A request to download a URL, with its limits.
public struct DownloadRequest: Sendable {
    /// An http or https URL.
    public var url: URL
    /// The header fields in addition to the downloader's own, which they override. None by default.
    public var headers: HTTPHeaders
    /// The credential for the URL's origin, which replaces an `Authorization` field. None by default.
    public var credential: Credential?
    /// The name of the credential's user, by which caches keep the responses of different users apart. Nil, the
    /// default, identifies the user by the credential itself.
    public var user: String?
    /// The timeouts; nil, the default, uses those of the downloader's configuration.
    public var timeouts: DownloadTimeouts?
    /// The largest body in bytes, both as transferred and decompressed. 200 MB by default.
    public var maximumBytes: Int
    /// The largest number of consecutive redirects. 20 by default.
    public var maximumRedirects: Int
    /// The priority while it waits for a slot; a `WorkTicket` changes it later. `.normal` by default.
    public var priority: RequestPriority
    /// The retry policy; nil, the default, uses the downloader's.
    public var retry: RetryPolicy?
    /// Whether progress includes the bytes that have arrived. False by default, as they are stored twice then until the
    /// end. A running transfer that was started without it does not show them.
    package var exposesBody = false
    /// How far the body advances between two calls of this download's progress handler; nil, the default, reports each
    /// chunk. Downloads with other steps share a transfer.
    public var progressStep: ProgressStep?
    /// Hooks for this transfer alone, called after the downloader's own. Nil by default.
    public var hooks: RequestHooks?
    /// The check of the body's beginning; nil, the default, waits for the whole body. None is made of a part that the request itself
    /// asks for, nor with a hook that changes the body.
    package var beginning: BeginningCheck?
    /// Receives the events of the download, on no particular thread; if downloads share a transfer, only the request
    /// that started it does.
    package var observe: (@Sendable (DownloadEvent) -> Void)?
    /// The budget from which the finished body is reserved. Until there is room, the transfer keeps its slot, so that
    /// no other one begins in the meantime.
    package var bodyBudget: ByteBudget?

    /// Creates a request for an http or https URL; omitted arguments take the defaults that the properties state.
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

/// An event within a download that its progress does not show.
package enum DownloadEvent: Sendable {
    /// An attempt failed, and another one follows; `attempt` is 1 for the first.
    case retried(DownloadError, attempt: Int)
}
