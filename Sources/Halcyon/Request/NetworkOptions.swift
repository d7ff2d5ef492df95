import HalcyonNetwork

/// What a request asks of the network beyond its URL. Everything that is nil is the pipeline's.
public struct NetworkOptions: Hashable, Sendable {
    /// Sent besides the pipeline's own headers; a field that is here replaces theirs.
    public var headers: HTTPHeaders
    /// Shown to the origin of the URL; in place of an `Authorization` among the headers. None by default.
    public var credential: Credential?
    /// The name of who shows the credential, by which the caches know whose image they have: with it a new token finds what
    /// was kept under the former one. Nil, the default, is told by the credential itself.
    ///
    /// Caches keep what comes for one user apart from what comes for others, unless the server says `public` or `s-maxage`.
    /// Other fields that identify a user, such as a cookie, count beside the name; the downloader's `credentialFields` list
    /// them.
    public var user: String?
    /// From the start to the last byte. The pipeline's downloader has no limit unless its configuration says so.
    public var totalTimeout: Duration?
    /// To a connection, for each attempt and redirect.
    public var connectTimeout: Duration?
    /// The longest silence once connected.
    public var idleTimeout: Duration?
    /// The least that a body must bring; `.none` is no limit.
    public var leastRate: LeastRate?
    /// Attempts after the first.
    public var retries: Int?
    /// The most bytes that a body may have.
    public var maximumBytes: Int?
    /// Whether to ask also where the pipeline remembers a failure. False by default; a reload asks anyway.
    public var retriesFailures = false
    /// What is done to the request, its redirects, its answer and its bytes on their way. Nil by default.
    ///
    /// Requests whose hooks have different names share no transfer. The caches do not look at the names: bytes that a
    /// decryptor made are kept, and found, under the source's key, unless the request has a `cacheKey` of its own. The
    /// hooks go along to the request's alternatives, and see by the URL what they have before them. What they add to the
    /// header fields is not looked at for `Vary`; an answer to a credential that they add is kept by no cache, unless `user`
    /// says whose it is or the server that it is for all.
    public var hooks: RequestHooks?

    public init(
        headers: HTTPHeaders = HTTPHeaders(), credential: Credential? = nil, totalTimeout: Duration? = nil,
        retries: Int? = nil,
        maximumBytes: Int? = nil
    ) {
        self.headers = headers
        self.credential = credential
        self.totalTimeout = totalTimeout
        self.retries = retries
        self.maximumBytes = maximumBytes
    }

    /// The limits of time of a transfer, by a downloader's.
    func timeouts(over defaults: DownloadTimeouts) -> DownloadTimeouts {
        DownloadTimeouts(
            connect: connectTimeout ?? defaults.connect, idle: idleTimeout ?? defaults.idle,
            total: totalTimeout ?? defaults.total, leastRate: leastRate ?? defaults.leastRate)
    }
}
