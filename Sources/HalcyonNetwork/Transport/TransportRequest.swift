import Foundation

/// A request to one URL, as a transport receives it: a transport does not follow redirects.
public struct TransportRequest: Sendable, Equatable {
    /// An http or https URL.
    public var url: URL
    /// The method. `GET` by default.
    public var method: String
    /// The header fields, in the order in which they are sent. None by default.
    public var headers: HTTPHeaders
    /// The longest time until the connection is established, from the name lookup to the end of the TLS handshake. 10 s
    /// by default.
    public var connectTimeout: Duration
    /// The longest time without data on an established connection, not counted while the reader holds the transfer up.
    /// 15 s by default.
    public var idleTimeout: Duration
    /// The longest time for the whole transfer, including the body; nil, the default, is no limit, and so are 136 years.
    public var totalTimeout: Duration?
    /// The addresses that may be connected to. Everything by default.
    public var addressPolicy: AddressPolicy
    /// The credential that answers a digest challenge. Nil by default; only for a transport whose `answersDigest` is true.
    public var digest: DigestCredential?

    /// Creates a request; omitted arguments take the defaults that the properties state.
    public init(
        url: URL, method: String = "GET", headers: HTTPHeaders = HTTPHeaders(),
        connectTimeout: Duration = .seconds(10), idleTimeout: Duration = .seconds(15), totalTimeout: Duration? = nil,
        addressPolicy: AddressPolicy = .any, digest: DigestCredential? = nil
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.connectTimeout = connectTimeout
        self.idleTimeout = idleTimeout
        self.totalTimeout = totalTimeout
        self.addressPolicy = addressPolicy
        self.digest = digest
    }
}

/// A user name and a password for digest authentication (RFC 7616), which proves the password without sending it.
///
/// A transport first sends the request without it, and answers the server's challenge once, for MD5 or SHA-256 with
/// `qop=auth`. It returns only the last of the two responses: the second one, or the first one if that has no challenge
/// that can be answered.
public struct DigestCredential: Hashable, Sendable {
    /// The user name, which is sent unencrypted unless the URL is https.
    public let user: String
    /// The password, which is never sent itself.
    public let password: String

    /// Creates a credential from a user name and a password.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension DigestCredential: CustomStringConvertible, CustomDebugStringConvertible {
    /// A description without user name and password.
    public var description: String { "Digest credential" }
    public var debugDescription: String { description }
}

extension TransportRequest {
    /// Throws `DownloadError` for a request that no transport can send: another scheme than http and https, no host, an
    /// invalid method or credential, header fields without a valid name or with line breaks.
    package func validate() throws {
        let scheme = url.scheme?.lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw DownloadError(.invalidURL("its scheme is neither http nor https"), url: url)
        }
        guard let host = url.host(percentEncoded: true), !host.isEmpty else {
            throw DownloadError(.invalidURL("it has no host"), url: url)
        }
        for field in headers.fields {
            guard !Self.breaksLine(field.name), !Self.breaksLine(field.value) else {
                throw DownloadError(.invalidRequest("a header field contains a line break"), url: url)
            }
            guard !field.name.isEmpty, !field.name.utf8.contains(where: { $0 == 0x3A || $0 == 0x20 }) else {
                throw DownloadError(.invalidRequest("a header field has an invalid name"), url: url)
            }
        }
        // The user name becomes part of a field, and a zero byte ends both texts in C.
        if let digest, Self.breaksLine(digest.user) || digest.password.utf8.contains(0) {
            throw DownloadError(.invalidRequest("the credential cannot be sent"), url: url)
        }
        guard !method.isEmpty, method.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw DownloadError(.invalidRequest("the method is not valid"), url: url)
        }
    }

    private static func breaksLine(_ text: String) -> Bool {
        text.utf8.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0 }
    }
}
