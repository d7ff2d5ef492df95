import Foundation

/// An HTTP client without policy: it sends a request, and returns the head of the response and then the body as it is read.
///
/// A transport does nothing else. Redirects, retries, limits and HTTP caching are done by Halcyon above it, so that
/// they are the same for every transport. It must keep four promises:
/// - The body is pulled: when its reader stops, the sender is held up instead of a buffer being filled.
/// - Cancelling the awaiting task, or releasing the body, ends the transfer at once and closes its connection or stream.
/// - The body is delivered as transferred: `Content-Encoding` is decoded above. A transport that cannot avoid decoding
///   it removes that field and `Content-Length` from the head.
/// - Failures are `DownloadError`; a cancelled transfer ends with `CancellationError`. An error of any other type is not retried,
///   and ends the download as `ConnectionFailure.other` with this error as `DownloadError.underlying`.
public protocol Transport: Sendable {
    /// Sends a request and waits for the head of the final response (not a 1xx).
    func send(_ request: TransportRequest) async throws -> TransportResponse

    /// Whether the transport checks the address that it connects to against `TransportRequest.addressPolicy`, also when
    /// it reuses a connection. False by default: requests whose policy restricts addresses are refused then.
    var checksAddresses: Bool { get }

    /// Whether the transport answers digest challenges with `TransportRequest.digest`. False by default: requests with
    /// a digest credential are refused then.
    var answersDigest: Bool { get }

    /// Whether the transport itself sends cookies, so that a response may be for one user only. False by default.
    var sendsCookies: Bool { get }

    /// Returns the identity that the transport shows to a URL's server besides cookies and the fields of a request,
    /// such as the name of a certificate, so that caches keep the responses for different identities apart. Nil, for
    /// none, by default; it is called only if `identifiesUsers` is true.
    func user(for url: URL) -> String?

    /// Whether the transport itself shows servers anything that identifies a user. By default, whether it sends cookies.
    var identifiesUsers: Bool { get }
}

extension Transport {
    public var checksAddresses: Bool { false }
    public var answersDigest: Bool { false }
    public var sendsCookies: Bool { false }
    public func user(for url: URL) -> String? { nil }
    public var identifiesUsers: Bool { sendsCookies }

    /// Throws `DownloadError` if a request needs a capability that this transport does not have.
    package func checkAbilities(for request: TransportRequest) throws {
        guard !request.addressPolicy.requiresPublicAddress || checksAddresses else {
            throw DownloadError(.invalidRequest("the transport does not check addresses"), url: request.url)
        }
        guard request.digest == nil || answersDigest else {
            throw DownloadError(.invalidRequest("the transport does not answer digest challenges"), url: request.url)
        }
    }
}

/// A response: the head, and a body that arrives as it is read.
public struct TransportResponse: Sendable {
    /// The status and header fields, received before the body.
    public var head: HTTPResponseHead
    /// The body, to be read once. Releasing it before its end cancels the transfer.
    public var body: TransportBody

    /// Creates a response from its head and its body.
    public init(head: HTTPResponseHead, body: TransportBody) {
        self.head = head
        self.body = body
    }
}
