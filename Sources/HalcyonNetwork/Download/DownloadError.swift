import Foundation

/// The reason why a download failed. A cancelled download is not a failure: it throws `CancellationError`.
///
/// Neither the description nor any property contains a URL's query, user or password, unless an error of the program's own does.
public struct DownloadError: Error, Sendable {
    /// The kind of failure.
    public enum Reason: Sendable, Equatable {
        /// The URL cannot be requested; the text gives the reason.
        case invalidURL(String)
        /// Another part of the request cannot be sent; the text names it.
        case invalidRequest(String)
        /// The system has no route to the network.
        case offline
        /// No connection could be established, or it broke.
        case connection(ConnectionFailure)
        /// A time limit expired; the value says which.
        case timeout(TimeoutKind)
        /// The server is not trusted, or the handshake failed; the text is the TLS library's.
        case tls(String)
        /// The server responded with a status that is not a success; 206 is not one if no part was requested.
        case httpStatus(Int)
        /// The server responded with 401 although it received a credential.
        case unauthorized
        /// A redirect was not followed; the value gives the reason.
        case redirect(RedirectFailure)
        /// The body (or the head) is larger than `limit` bytes.
        case tooLarge(limit: Int)
        /// The media type of the response is not accepted; nil if the response has none.
        case contentType(String?)
        /// The program itself refused; the text names the hook.
        case refused(String)
        /// The address of the host is not allowed.
        case refusedAddress(String)
        /// The body ended before its declared length; `expected` is nil if it came without a length, or ended within
        /// compressed data.
        case incompleteBody(received: Int, expected: Int?)
    }

    /// The reason for the failure of the last attempt.
    public let reason: Reason
    /// The host and path of the requested URL, without query and credentials.
    public let target: String
    /// The header fields of the response, empty if there was none.
    public let responseHeaders: HTTPHeaders
    /// The error that code of the program threw (a hook, an interceptor, a refresher of credentials, a transport), as it was
    /// thrown; nil if the failure is the network's. The comparison of two errors leaves it out.
    public let underlying: (any Error)?
    /// The reasons why the earlier attempts failed, the oldest first. The last eight are kept, and the description has them.
    public private(set) var earlierReasons: [Reason] = []
    /// The number of attempts, including this one.
    public private(set) var attempts = 1

    /// Creates an error for a URL, of which only host, port and path are kept.
    ///
    /// - Parameters:
    ///   - responseHeaders: The header fields of the response; none by default.
    ///   - underlying: The error of the program's own code that is the cause; nil by default.
    public init(
        _ reason: Reason, url: URL, responseHeaders: HTTPHeaders = HTTPHeaders(), underlying: (any Error)? = nil
    ) {
        self.reason = reason
        self.underlying = underlying
        target = Self.target(of: url)
        self.responseHeaders = responseHeaders
    }

    /// The stable name of the failure, which is also what the command-line tool prints: `invalidRequest`, `offline`,
    /// `connection`, `timeout`, `tls`, `httpStatus`, `unauthorized`, `redirect`, `tooLarge`, `contentType`, `refused`
    /// or `refusedAddress`.
    public var code: String {
        switch reason {
        case .invalidURL, .invalidRequest: "invalidRequest"
        case .offline: "offline"
        case .connection, .incompleteBody: "connection"
        case .timeout: "timeout"
        case .tls: "tls"
        case .httpStatus: "httpStatus"
        case .unauthorized: "unauthorized"
        case .redirect: "redirect"
        case .tooLarge: "tooLarge"
        case .contentType: "contentType"
        case .refused: "refused"
        case .refusedAddress: "refusedAddress"
        }
    }

    /// Returns the error as the last one after some earlier attempts.
    func following(_ earlier: FailedAttempts) -> DownloadError {
        guard earlier.count > 0 else { return self }
        var error = self
        error.earlierReasons = earlier.reasons
        error.attempts = earlier.count + 1
        return error
    }

    /// The description of the failure at each attempt, without the target.
    package var reasonText: String {
        var text = Self.text(of: reason)
        if case .connection(.other) = reason, let underlying { text += ": \(underlying)" }
        guard !earlierReasons.isEmpty else { return text }
        let earlier = earlierReasons.map(Self.text).joined(separator: "; ")
        let isAll = earlierReasons.count == attempts - 1
        return "\(text) (attempt \(attempts); \(isAll ? "before" : "the last before"): \(earlier))"
    }

    /// Returns the parts of a URL that may be shown: host, port and path.
    package static func target(of url: URL) -> String {
        let port = url.port.map { ":\($0)" } ?? ""
        let place = (url.host(percentEncoded: true) ?? "") + port + url.path(percentEncoded: true)
        return place.isEmpty ? "a URL without host" : place
    }
}

extension DownloadError: Equatable {
    public static func == (left: DownloadError, right: DownloadError) -> Bool {
        left.reason == right.reason && left.target == right.target && left.responseHeaders == right.responseHeaders
            && left.earlierReasons == right.earlierReasons && left.attempts == right.attempts
    }
}

extension DownloadError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    public var description: String { "\(target): \(reasonText)" }
    public var debugDescription: String { description }
    public var errorDescription: String? { description }

    /// A line about what the program or its user can do; nil if there is nothing to say.
    public var recoverySuggestion: String? {
        if let suggestion = (underlying as? any LocalizedError)?.recoverySuggestion { return suggestion }
        switch reason {
        case .offline: return "Set RetryPolicy.networkWait to wait for a network."
        case .unauthorized: return "Send another credential."
        case .tooLarge: return "Raise the limit of bytes for this request."
        case .contentType: return "Accept the media type, if the source is trusted."
        case .refusedAddress: return "Allow the address in the AddressPolicy, if the source is trusted."
        default: return nil
        }
    }

    package static func text(of reason: Reason) -> String {
        switch reason {
        case .invalidURL(let why): "the URL cannot be used: \(why)"
        case .invalidRequest(let why): "the request cannot be sent: \(why)"
        case .offline: "there is no network"
        case .connection(let failure): failure.rawValue
        case .timeout(let kind): kind.rawValue
        case .tls(let why): "no secure connection: \(why)"
        case .httpStatus(let status): "the server answered with status \(status)"
        case .unauthorized: "the server refused the credential"
        case .redirect(let failure): "the redirect was not followed: \(failure)"
        case .tooLarge(let limit): "more than the \(limit) bytes that are allowed"
        case .contentType(let type?): "the answer's type \(type) is not accepted"
        case .contentType(nil): "the response has no media type"
        case .refused(let hook): "refused by \(hook)"
        case .refusedAddress(let address): "the address \(address) is not allowed"
        case .incompleteBody(let received, let expected?): "the body ended after \(received) of \(expected) bytes"
        case .incompleteBody(let received, nil): "the body broke off after \(received) bytes"
        }
    }
}

/// The ways in which a connection fails. The raw value is the text that a description shows.
public enum ConnectionFailure: String, Sendable, Hashable {
    /// The host name could not be resolved.
    case hostNotFound = "host not found"
    /// The host refused the connection, usually because no server listens on the port.
    case refused = "connection refused"
    /// The system has a network, but cannot reach the host.
    case unreachable = "the host cannot be reached"
    /// An established connection broke, or was closed before an answer.
    case reset = "the connection was reset"
    /// The response is not HTTP, or violates its rules.
    case badAnswer = "the response is not valid HTTP"
    /// The body does not have the format that its `Content-Encoding` declares, or is damaged.
    case badEncoding = "the body cannot be decompressed"
    /// The response has a `Transfer-Encoding` other than `chunked`.
    case transferEncoding = "the response's transfer encoding is not supported"
    /// The proxy's name could not be resolved, or the proxy did not connect to the server.
    case proxy = "the proxy cannot be reached"
    /// This process has no descriptors, threads or memory left for a connection.
    case exhausted = "no resources left for a connection"
    /// The connection failed in a way that no other case describes.
    case other = "the connection failed"
}

/// The time limit that expired. The raw value is the text that a description shows.
public enum TimeoutKind: String, Sendable, Hashable {
    /// The connection was not established within `DownloadTimeouts.connect`.
    case connect = "timed out while connecting"
    /// The server sent no data for `DownloadTimeouts.idle`.
    case idle = "timed out: no data for too long"
    /// The download did not end within `DownloadTimeouts.total`, waits and retries included.
    case total = "timed out: not finished within the time allowed"
    /// The body was slower than `DownloadTimeouts.minimumRate`.
    case minimumRate = "timed out: the body came too slowly"
    /// The transfer was the slowest of more than `ImageDownloader.Configuration.slowTransfers`, and others waited for a slot.
    case crowded = "timed out: the slowest of too many slow transfers"
}

/// The reason why a redirect was not followed.
public enum RedirectFailure: Sendable, Hashable, CustomStringConvertible {
    /// It leads back to a URL of the same chain.
    case loop
    /// There were more redirects than the limit.
    case tooMany(limit: Int)
    /// It has no location, or one that is not a URL.
    case badLocation
    /// It leads to another scheme than http and https.
    case schemeNotAllowed(String)

    public var description: String {
        switch self {
        case .loop: "it leads back to an earlier URL"
        case .tooMany(let limit): "more than \(limit) in a row"
        case .badLocation: "its location is missing or is not a URL"
        case .schemeNotAllowed(let scheme): "its scheme is '\(scheme)'"
        }
    }
}
