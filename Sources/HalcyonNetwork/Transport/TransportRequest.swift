import Foundation

/// One request to one URL, as a transport is given it: redirects are followed by nobody below.
public struct TransportRequest: Sendable, Equatable {
    /// An http or https URL.
    public var url: URL
    public var method: String
    public var headers: HTTPHeaders
    /// The longest time to a connection, from the name's look-up to the end of the TLS handshake. 10 s.
    public var connectTimeout: Duration
    /// The longest silence once there is a connection. Not counted while the reader holds the transfer up. 15 s.
    public var idleTimeout: Duration
    /// The longest time for all of it, the body included; nil, the default, is no limit, and so are 136 years.
    public var totalTimeout: Duration?
    /// What may be connected to. Everything by default.
    public var addressPolicy: AddressPolicy
    /// What a digest challenge is answered with. Nil by default; only for a transport that says `answersDigest`.
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
