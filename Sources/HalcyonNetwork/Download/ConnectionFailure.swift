/// The ways in which a connection fails. The raw value is the text that a description shows.
public enum ConnectionFailure: String, Sendable, Hashable {
    case hostNotFound = "host not found"
    case refused = "connection refused"
    case unreachable = "the host cannot be reached"
    /// An established connection broke, or was closed before an answer.
    case reset = "the connection was reset"
    /// The response is not HTTP, or violates its rules.
    case badAnswer = "the answer is not valid HTTP"
    /// The body does not have the format that its `Content-Encoding` declares, or is damaged.
    case badEncoding = "the body cannot be unpacked"
    /// The response has a `Transfer-Encoding` other than `chunked`.
    case transferEncoding = "the answer's transfer encoding is not accepted"
    case proxy = "the proxy cannot be reached"
    /// This process has no descriptors, threads or memory left for a connection.
    case exhausted = "no resources left for a connection"
    case other = "the connection failed"
}
