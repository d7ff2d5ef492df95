import Foundation

/// Closures that inspect and change transfers: all those of a downloader, or those of one request (`RequestHooks`).
/// None is set by default.
///
/// They run in the transfer's own task, in this order, once per attempt; only `request` runs once per download, before
/// the downloader knows whether it can share a transfer. An error that a hook throws ends the download as a refusal
/// with the error's text; a `DownloadError` is passed on unchanged, and a `CancellationError` cancels.
public struct DownloadHooks: Sendable {
    /// Changes a request before it is sent: another URL, other header fields. If it returns nil, the download fails
    /// with `DownloadError.Reason.refused`.
    ///
    /// The request has all fields that are sent, including the downloader's own and `Accept-Encoding`. Exactly the
    /// fields that the hook returns are sent; those that it removes are not added again. Only the credential is
    /// separate, in `DownloadRequest.credential`, and `CurlTransport` sends `Accept: */*` if there is no such field.
    public var request: (@Sendable (DownloadRequest) async throws -> DownloadRequest?)?
    /// Changes the target of a redirect and the fields that are sent there. If it returns nil, the redirect is not
    /// followed, and the download fails with its status.
    public var redirect: (@Sendable (_ head: HTTPResponseHead, _ next: RedirectTarget) async throws -> RedirectTarget?)?
    /// Changes the status and header fields of a response before they are evaluated. If it returns nil, the response is
    /// refused.
    public var response: (@Sendable (HTTPResponseHead) async throws -> HTTPResponseHead?)?
    /// Decides by the head alone whether the body is wanted; false refuses the response before any of the body is awaited.
    public var wantsBody: (@Sendable (HTTPResponseHead) async throws -> Bool)?
    /// Receives each chunk as it arrives, compressed as it was transferred. It must return quickly: the transfer waits
    /// for it.
    public var chunk: (@Sendable (_ chunk: Data, _ progress: DownloadProgress) -> Void)?
    /// Transforms the whole body, for example decrypts it: the returned bytes are decoded and cached. If it returns
    /// nil, the body is refused. It runs on a processor thread; if it is set, there are no previews.
    public var data: (@Sendable (Data, HTTPResponseHead) throws -> Data?)?

    public init() {}
}

/// The next request of a chain of redirects.
public struct RedirectTarget: Sendable, Hashable {
    public var url: URL
    /// The header fields that are sent in addition to the transport's own. Credentials of another origin are already removed.
    public var headers: HTTPHeaders

    public init(url: URL, headers: HTTPHeaders) {
        self.url = url
        self.headers = headers
    }
}
