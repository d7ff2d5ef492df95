/// An interceptor between the callers of a downloader and its transfers: it may refuse a request, change it, change the
/// result, return a result of its own, or send the request again.
///
/// It is called once per download, before the downloader knows whether it can share a transfer: downloads that are
/// passed on with the same request share one. The first of `ImageDownloader.Configuration.interceptors` is the
/// outermost. An error that it throws ends the download: `DownloadError` and `CancellationError` unchanged, any other
/// as `DownloadError.Reason.refused` with the error as its `underlying`.
///
///     struct Refusing: DownloadInterceptor {
///         func intercept(_ request: DownloadRequest, next: @escaping Next) async throws -> DownloadResult {
///             guard request.url.host() != "ads.example" else { throw Unwanted() }
///             return try await next(request)
///         }
///     }
///
/// A cancelled download ends at once, even if the interceptor does not react; its task is cancelled then. Progress and
/// previews show the bytes as they arrive: an interceptor that changes them at the end sets `exposesBody` to false
/// before it calls `next`. HTTP caching is a layer above: the returned result is what is stored, and `Vary` is matched
/// against the fields of the request that was passed in.
public protocol DownloadInterceptor: Sendable {
    /// The rest of the chain: the next interceptor, and finally the transfer. An interceptor may call it never, once,
    /// or again after the previous call has ended.
    typealias Next = @Sendable (DownloadRequest) async throws -> DownloadResult

    /// Handles a download: passes the request on with `next`, or returns a result or throws an error of its own.
    ///
    /// - Parameters:
    ///   - request: The request as the caller, or the interceptor before, has made it.
    ///   - next: The rest of the chain.
    /// - Throws: Any error, which ends the download.
    func intercept(_ request: DownloadRequest, next: @escaping Next) async throws -> DownloadResult

    /// Returns the user whose credential this interceptor adds to a request, so that caches keep the responses of
    /// different users apart. The name stays the same when the credential changes. The method is called at each memory
    /// cache lookup and must return quickly.
    ///
    /// Before it calls `next`, the interceptor sets `DownloadRequest.user` to the same name. A response that was
    /// requested for another user than this method returns is delivered to the caller but not cached, unless it is
    /// `public`.
    ///
    /// - Returns: Nil, the default, if it adds no credential. If the request already has a `user`, the name includes it.
    func user(of request: DownloadRequest) -> String?
}

extension DownloadInterceptor {
    public func user(of request: DownloadRequest) -> String? { nil }
}
