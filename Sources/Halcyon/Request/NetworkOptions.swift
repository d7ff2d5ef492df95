import HalcyonNetwork

/// The network options of a request, besides its URL. An option that is nil takes the pipeline's.
public struct NetworkOptions: Hashable, Sendable {
    /// The header fields that are sent besides the pipeline's own; a field that is here replaces one of the same name
    /// there.
    public var headers: HTTPHeaders
    /// The credential that is sent to the origin of the URL, in place of an `Authorization` field among the headers.
    /// None by default.
    public var credential: Credential?
    /// The name of the credential's user, by which the caches separate users' images: with it, a request with a new
    /// token finds the images kept under the former one. Nil, the default, identifies the user by the credential
    /// itself.
    ///
    /// Caches keep images for one user apart from those for others, unless the server declares `public` or `s-maxage`.
    /// Other fields that identify a user, such as a cookie, count in addition to the name; the downloader's
    /// `credentialFields` list them.
    public var user: String?
    /// The timeout from the start to the last byte. The pipeline's downloader has none unless its configuration sets
    /// one.
    public var totalTimeout: Duration?
    /// The timeout for connecting, for each attempt and redirect.
    public var connectTimeout: Duration?
    /// The longest time without a byte once connected.
    public var idleTimeout: Duration?
    /// The lowest rate at which a body must arrive; `.none` is no limit.
    public var minimumRate: MinimumRate?
    /// The number of attempts after the first, in place of the retry policy's.
    public var retries: Int?
    /// The policy that decides whether a failed attempt is retried, and after which delay.
    public var retry: RetryPolicy?
    /// The maximum length of a body in bytes.
    public var maximumBytes: Int?
    /// Whether the server is asked even if the pipeline remembers a failure. False by default; a reload asks in any
    /// case.
    public var retriesFailures = false
    /// Whether a transfer ends as soon as its first bytes declare a picture whose sides or pixels are above
    /// `DecodeOptions.limits`, with the error of the decode (`CodecError.limitExceeded`), and nothing of it is kept. False by
    /// default: requests with different limits share no transfer then.
    ///
    /// JPEG, PNG, GIF, WebP, JPEG XL, AVIF, HEIC, BMP and QOI declare their size first; other formats and
    /// sequences of AVIF are judged once they are complete. The headers are read in this
    /// process, by bounds-checked Swift, also where decodes are isolated. A hook that changes the bytes turns it off, and
    /// `ImagePipeline.data(for:)` ignores it. It costs some microseconds for each transfer.
    public var stopsAtLimits = false
    /// The hooks that change the request, its redirects, its response and its bytes on their way. Nil by default.
    ///
    /// Requests whose hooks have different names share no transfer. The caches ignore the names: bytes that a decryptor
    /// made are kept, and found, under the source's key, unless the request has a `cacheKey` of its own. The hooks also
    /// apply to the request's alternatives, and can tell these apart by the URL. Header fields that the hooks add are
    /// ignored for `Vary`; no cache keeps the response to a credential that they add, unless `user` names the user or
    /// the server declares the response to be for all users.
    public var hooks: RequestHooks?

    /// Creates options. By default there are no header fields, and everything else is nil.
    public init(
        headers: HTTPHeaders = HTTPHeaders(), credential: Credential? = nil, totalTimeout: Duration? = nil,
        retries: Int? = nil, retry: RetryPolicy? = nil, maximumBytes: Int? = nil
    ) {
        self.headers = headers
        self.credential = credential
        self.totalTimeout = totalTimeout
        self.retries = retries
        self.retry = retry
        self.maximumBytes = maximumBytes
    }

    /// Returns the timeouts of a transfer: these, and the downloader's for those that are nil.
    func timeouts(over defaults: DownloadTimeouts) -> DownloadTimeouts {
        DownloadTimeouts(
            connect: connectTimeout ?? defaults.connect, idle: idleTimeout ?? defaults.idle,
            total: totalTimeout ?? defaults.total, minimumRate: minimumRate ?? defaults.minimumRate)
    }

    /// Returns the retry policy of a transfer; nil takes the downloader's.
    func retry(over policy: RetryPolicy) -> RetryPolicy? {
        guard let retries else { return retry }
        var policy = retry ?? policy
        policy.maximumRetries = retries
        return policy
    }
}
