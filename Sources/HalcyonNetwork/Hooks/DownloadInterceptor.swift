/// Stands between who asks a downloader and the transfer: it may refuse, change what is sent, change what came, answer by
/// itself, or ask again.
///
/// It is called once for each who asks, before it is known whether a transfer can be shared: those who are let through to
/// the same request share one, each time that they are. The first of `ImageDownloader.Configuration.interceptors` is the
/// outermost. What it throws ends the download: `DownloadError` and `CancellationError` as they are, anything else as
/// `DownloadError.Reason.refused` with the error's words.
///
///     struct Refusing: DownloadInterceptor {
///         func intercept(_ request: DownloadRequest, next: @escaping Next) async throws -> DownloadResult {
///             guard request.url.host() != "ads.example" else { throw Unwanted() }
///             return try await next(request)
///         }
///     }
///
/// A cancelled download ends at once, whether the interceptor notices or not; its task is cancelled then. Progress and
/// previews are of the bytes as they arrive: who changes them in the end sets `exposesBody` to false before `next`.
/// HTTP caching is above all of this: what is returned is what is stored, and `Vary` is read against the fields that came
/// in here.
public protocol DownloadInterceptor: Sendable {
    /// The rest of the way: the next interceptor, at last the transfer. It may be called never, once, or again when the
    /// call before has ended.
    typealias Next = @Sendable (DownloadRequest) async throws -> DownloadResult

    func intercept(_ request: DownloadRequest, next: @escaping Next) async throws -> DownloadResult

    /// For whom the requests are to which this adds a credential, so that caches keep apart what each of them got: a name
    /// that stays when the credential is another one. It sets `DownloadRequest.user` to the same before `next`. What is sent
    /// for others than this says is given to who asked and kept by no cache, unless it is `public`.
    ///
    /// - Returns: nil, as by default, where it adds none; with `request.user` in it where there is one already. It is asked
    ///   at each look into memory: be quick.
    func user(of request: DownloadRequest) -> String?
}

extension DownloadInterceptor {
    public func user(of request: DownloadRequest) -> String? { nil }
}
