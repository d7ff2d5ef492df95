/// The failures of an attempt after which a download is tried again.
///
/// A failure that no property lists is not retried: a cancelled download, a body that is too large, a certificate that is
/// not trusted, a refusal of the program. `RetryDelay.custom` decides about those as well. Without a network, nothing is
/// retried either; `RetryPolicy.networkWait` waits for one.
public struct RetryableFailures: Sendable, Hashable {
    /// The statuses. 408, 429, 502, 503 and 504 by default.
    public var statuses: Set<Int>
    /// The time limits. `.connect` by default. After `.total` there is no time left for another attempt.
    public var timeouts: Set<TimeoutKind>
    /// The failures of connections. `.reset` by default.
    public var connections: Set<ConnectionFailure>
    /// Whether a body that ended before its length is requested again. True by default. A compressed body that is
    /// incomplete although all of its declared bytes arrived would be the same again, and is never requested again.
    public var incompleteBodies: Bool

    /// Creates a set of failures; omitted arguments take the defaults that the properties state.
    public init(
        statuses: Set<Int> = [408, 429, 502, 503, 504], timeouts: Set<TimeoutKind> = [.connect],
        connections: Set<ConnectionFailure> = [.reset], incompleteBodies: Bool = true
    ) {
        self.statuses = statuses
        self.timeouts = timeouts
        self.connections = connections
        self.incompleteBodies = incompleteBodies
    }

    /// The failures that often pass within seconds: the defaults of the properties.
    public static let temporary = RetryableFailures()

    /// The temporary failures, and in addition idle timeouts, refused connections, names that are not found, and all
    /// statuses from 500 to 599.
    public static let extended = RetryableFailures(
        statuses: Set([408, 429] + Array(500..<600)), timeouts: [.connect, .idle],
        connections: [.reset, .refused, .hostNotFound])

    /// Returns whether a download is tried again after a failure.
    func contains(_ error: DownloadError) -> Bool {
        switch error.reason {
        case .httpStatus(let status): statuses.contains(status)
        case .timeout(let kind): timeouts.contains(kind)
        case .connection(let failure): connections.contains(failure)
        case .incompleteBody(let received, nil):
            // If all declared bytes came, the compressed data in them is incomplete: a retry would end in the same way.
            incompleteBodies && error.responseHeaders["Content-Length"] != "\(received)"
        case .incompleteBody: incompleteBodies
        default: false
        }
    }
}
