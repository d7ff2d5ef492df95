import Foundation

/// Why a download failed. A cancelled download is no failure: it throws `CancellationError`.
///
/// Neither the description nor any property holds a URL's query, user or password.
public struct DownloadError: Error, Sendable, Equatable {
    /// What was wrong.
    public enum Reason: Sendable, Equatable {
        /// The URL cannot be asked for; the text says why.
        case invalidURL(String)
        /// Something else of the request cannot be sent; the text says what.
        case invalidRequest(String)
        /// The system has no way out to the network.
        case offline
        /// There was no connection, or it broke.
        case connection(ConnectionFailure)
        case timeout(TimeoutKind)
        /// The server could not be trusted, or the handshake failed; the text is the TLS library's.
        case tls(String)
        /// The server answered with a status that is no success; 206 is none when no part was asked for.
        case httpStatus(Int)
        /// The server answered with 401 though it was shown a credential.
        case unauthorized
        case redirect(RedirectFailure)
        /// The body (or the head) is larger than `limit` bytes.
        case tooLarge(limit: Int)
        /// The answer is of another media type than is accepted; nil where it says none.
        case contentType(String?)
        /// The program itself refused; the text says which of its hooks.
        case refused(String)
        /// The address that the host leads to is not allowed.
        case refusedAddress(String)
        /// The body ended before the length it had said; `expected` is nil when it
        /// came without a length, or ended within what is packed.
        case incompleteBody(received: Int, expected: Int?)
    }

    public let reason: Reason
    /// What was asked for: host and path, without query and credentials.
    public let target: String
    /// The answer's header fields, empty when there was no answer.
    public let responseHeaders: HTTPHeaders
    /// Why the attempts before this one failed, the oldest first. The last eight are kept, and told by the description.
    public private(set) var earlierReasons: [Reason] = []
    /// Attempts that were made, this one among them.
    public private(set) var attempts = 1

    public init(_ reason: Reason, url: URL, responseHeaders: HTTPHeaders = HTTPHeaders()) {
        self.reason = reason
        target = Self.target(of: url)
        self.responseHeaders = responseHeaders
    }

    /// The failure's stable name, the same as the command-line tool prints: `invalidRequest`, `offline`, `connection`,
    /// `timeout`, `tls`, `httpStatus`, `unauthorized`, `redirect`, `tooLarge`, `contentType`, `refused` or `refusedAddress`.
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

    /// The same as the end of several attempts; those before it, the oldest first.
    func following(_ earlier: FailedAttempts) -> DownloadError {
        guard earlier.count > 0 else { return self }
        var error = self
        error.earlierReasons = earlier.reasons
        error.attempts = earlier.count + 1
        return error
    }

    /// What was wrong, at each attempt, without the target.
    package var reasonText: String {
        let text = Self.text(of: reason)
        guard !earlierReasons.isEmpty else { return text }
        let earlier = earlierReasons.map(Self.text).joined(separator: "; ")
        let isAll = earlierReasons.count == attempts - 1
        return "\(text) (attempt \(attempts); \(isAll ? "before" : "the last before"): \(earlier))"
    }

    /// A URL as it may be shown: host, port and path.
    package static func target(of url: URL) -> String {
        let port = url.port.map { ":\($0)" } ?? ""
        let place = (url.host(percentEncoded: true) ?? "") + port + url.path(percentEncoded: true)
        return place.isEmpty ? "a URL without host" : place
    }
}

extension DownloadError: CustomStringConvertible, CustomDebugStringConvertible, LocalizedError {
    public var description: String { "\(target): \(reasonText)" }
    public var debugDescription: String { description }
    public var errorDescription: String? { description }

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
        case .contentType(nil): "the answer says no type"
        case .refused(let hook): "refused by \(hook)"
        case .refusedAddress(let address): "the address \(address) is not allowed"
        case .incompleteBody(let received, let expected?): "the body ended after \(received) of \(expected) bytes"
        case .incompleteBody(let received, nil): "the body broke off after \(received) bytes"
        }
    }
}
