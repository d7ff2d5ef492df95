import Foundation

/// What a program does to transfers on their way: to every one of a downloader, or to those of one request
/// (`RequestHooks`). Nothing by default.
///
/// They run in the transfer's own task, in this order, once for each attempt but for `request`, which runs once for each
/// who asks, before it is known whether a transfer can be shared. What one throws ends the download as a refusal with the
/// error's words; a `DownloadError` goes on as it is, and `CancellationError` is a cancellation.
public struct DownloadHooks: Sendable {
    /// Changes a request before it is sent: another URL, other header fields. Nil refuses it, with
    /// `DownloadError.Reason.refused`.
    ///
    /// The fields are all that are sent, the downloader's own and `Accept-Encoding` among them; what the hook returns is
    /// what is sent, and what it removes is not added again. Only the credential stands by itself, in
    /// `DownloadRequest.credential`, and `CurlTransport` says `Accept: */*` where there is no such field.
    public var request: (@Sendable (DownloadRequest) async throws -> DownloadRequest?)?
    /// Changes where a redirect leads and what is sent there. Nil stops: the redirect's status is the error then.
    public var redirect: (@Sendable (_ head: HTTPResponseHead, _ next: RedirectTarget) async throws -> RedirectTarget?)?
    /// Changes an answer's status and header fields before anything is made of them. Nil refuses it.
    public var response: (@Sendable (HTTPResponseHead) async throws -> HTTPResponseHead?)?
    /// Whether the body is wanted, by the head alone; false refuses it before any of it is waited for.
    public var wantsBody: (@Sendable (HTTPResponseHead) async throws -> Bool)?
    /// Told of each chunk as it arrives, packed as it is on the wire. Be quick: the transfer waits.
    public var chunk: (@Sendable (_ chunk: Data, _ progress: DownloadProgress) -> Void)?
    /// Makes other bytes of a whole body, such as a decryptor: these are decoded and cached. Nil refuses it. It runs on a
    /// processor thread; there are no previews where it is set.
    public var data: (@Sendable (Data, HTTPResponseHead) throws -> Data?)?

    public init() {}
}

/// The next request of a chain of redirects.
public struct RedirectTarget: Sendable, Hashable {
    public var url: URL
    /// What is sent beside the transport's own fields. Credentials of another origin are gone from it already.
    public var headers: HTTPHeaders

    public init(url: URL, headers: HTTPHeaders) {
        self.url = url
        self.headers = headers
    }
}
