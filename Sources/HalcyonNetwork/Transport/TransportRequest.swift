import Foundation

/// A request to one URL, as a transport receives it: a transport does not follow redirects.
public struct TransportRequest: Sendable, Equatable {
    /// An http or https URL.
    public var url: URL
    public var method: String
    public var headers: HTTPHeaders
    /// The longest time until the connection is established, from the name lookup to the end of the TLS handshake. 10 s.
    public var connectTimeout: Duration
    /// The longest time without data on an established connection, not counted while the reader holds the transfer up. 15 s.
    public var idleTimeout: Duration
    /// The longest time for the whole transfer, including the body; nil, the default, is no limit, and so are 136 years.
    public var totalTimeout: Duration?
    /// The addresses that may be connected to. Everything by default.
    public var addressPolicy: AddressPolicy
    /// The credential that answers a digest challenge. Nil by default; only for a transport whose `answersDigest` is true.
    public var digest: DigestCredential?

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
