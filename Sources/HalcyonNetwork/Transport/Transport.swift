import Foundation

/// What moves bytes over HTTP: it sends a request, and hands out the head of the answer and then the body as it is read.
///
/// A transport does nothing else. Redirects, retries, limits and HTTP caching are Halcyon's, above it, so that they are
/// the same for every transport. It must keep four promises:
/// - The body is pulled: when its reader stops, the sender is held up, not a buffer filled.
/// - Cancelling the awaiting task, or dropping the body, ends the transfer at once and closes what carried it.
/// - The body comes as it is on the wire: what `Content-Encoding` names is unpacked above. A transport that cannot help
///   unpacking takes that field and `Content-Length` out of the head.
/// - Failures are `DownloadError`; a cancelled transfer ends in `CancellationError`.
public protocol Transport: Sendable {
    /// Sends a request and waits for the head of the final answer (not a 1xx).
    func send(_ request: TransportRequest) async throws -> TransportResponse

    /// Whether it holds `TransportRequest.addressPolicy` against the address that it connects to, also where it uses a
    /// connection again. False by default: a policy that speaks of addresses is refused then.
    var checksAddresses: Bool { get }

    /// Whether it answers digest challenges with `TransportRequest.digest`. False by default: a request with one is refused
    /// then.
    var answersDigest: Bool { get }

    /// Whether it sends cookies of its own accord, so that an answer may be for one user alone. False by default.
    var sendsCookies: Bool { get }

    /// Identifies the sender to a URL's server, beside the fields of a request and cookies, so that caches keep the answers of
    /// different senders apart: such as the name of a certificate. Nil, for nothing, by default; only asked where
    /// `identifiesUsers`.
    func user(for url: URL) -> String?

    /// Whether it shows servers anything of its own by which they know users. By default, whether it sends cookies.
    var identifiesUsers: Bool { get }
}

extension Transport {
    public var checksAddresses: Bool { false }
    public var answersDigest: Bool { false }
    public var sendsCookies: Bool { false }
    public func user(for url: URL) -> String? { nil }
    public var identifiesUsers: Bool { sendsCookies }

    /// Throws `DownloadError` where a request needs what this transport cannot do.
    package func checkAbilities(for request: TransportRequest) throws {
        guard !request.addressPolicy.requiresPublicAddress || checksAddresses else {
            throw DownloadError(.invalidRequest("the transport does not check addresses"), url: request.url)
        }
        guard request.digest == nil || answersDigest else {
            throw DownloadError(.invalidRequest("the transport does not answer digest challenges"), url: request.url)
        }
    }
}
