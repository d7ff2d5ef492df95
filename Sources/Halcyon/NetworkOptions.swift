import HalcyonNetwork

/// What a request asks of the network beyond its URL. Everything that is nil is the pipeline's.
public struct NetworkOptions: Hashable, Sendable {
    /// Sent besides the pipeline's own headers; a field that is here replaces theirs.
    public var headers: HTTPHeaders
    /// Shown to the origin of the URL; in place of an `Authorization` among the headers. None by default.
    public var credential: Credential?
    /// From the start to the last byte; nil is no limit, which is the default.
    public var totalTimeout: Duration?
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
    /// header fields is not looked at for `Vary`.
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
}
