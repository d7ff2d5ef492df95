import Foundation
import HalcyonSystem

/// The transport on Linux, which runs all transfers with libcurl on one thread of its own.
///
/// It has HTTP/1.1 and HTTP/2, connection reuse, and the proxy variables of the environment. It sends no cookies unless
/// `keepsCookies`, and it does not read .netrc, follow redirects, decompress bodies, or use any other scheme than http
/// and https. Header fields are read and written with one character per byte (Latin-1).
///
/// The thread starts with the first transfer and ends when the transport has been released and its last transfer has ended.
public final class CurlTransport: Transport {
    /// The settings of all transfers.
    public struct Configuration: Sendable {
        /// Whether HTTP/2 is offered on https connections. True by default.
        public var allowsHTTP2 = true
        /// The path of a file of PEM certificates to trust instead of the system's. Nil, the default, trusts the system's.
        public var certificateFile: String?
        /// The hosts whose certificates are not verified: neither the issuer nor the host name. Names as in a URL,
        /// without a port, without subdomains. None by default. An attacker on the network path to them can read and
        /// change everything.
        public var hostsWithInvalidCertificates: Set<String> = []
        /// The client certificates that are presented to hosts that request one, by the host's name as in a URL,
        /// without a port. None by default.
        public var clientCertificates: [String: ClientCertificate] = [:]
        /// The proxy for connections. `.environment` by default.
        public var proxy = Proxy.environment
        /// The number of idle connections that are kept for later. 32 by default.
        public var idleConnections = 32

        /// Whether cookies that servers set are sent back to them, by the rules of RFC 6265, for as long as the
        /// transport exists. They are in memory and are shared by all its transfers. False by default: cookies are
        /// neither kept nor sent.
        ///
        /// Caches keep the responses for the transport's downloader alone, unless they are `public`: of images that
        /// differ from one user to another, they keep one each. A response on disk is found for as long as the
        /// downloader exists. A `Cookie` among a request's fields is sent in addition.
        public var keepsCookies = false

        /// Creates a configuration with the defaults that the properties state.
        public init() {}
    }

    /// The number of received bytes that may wait for their reader before the sender is held up.
    static let bufferLimit = 256 * 1024
    /// The number of received bytes that a waiting reader gets without waiting for more.
    static let chunkSize = 64 * 1024

    private let loop: CurlLoop

    /// Creates a transport, with the default configuration unless another is given.
    public convenience init(_ configuration: Configuration = Configuration()) {
        self.init(configuration, onThreadEnd: {})
    }

    /// Creates a transport.
    ///
    /// - Parameter onThreadEnd: Called on the thread as its last action.
    package init(_ configuration: Configuration, onThreadEnd: @escaping @Sendable () -> Void) {
        loop = CurlLoop(configuration, onThreadEnd: onThreadEnd)
    }

    deinit {
        loop.stopWhenIdle()
    }

    public var checksAddresses: Bool { true }
    public var answersDigest: Bool { true }
    public var sendsCookies: Bool { loop.configuration.keepsCookies }
    public var identifiesUsers: Bool { sendsCookies || !loop.configuration.clientCertificates.isEmpty }

    /// Returns the path of the certificate, and of its key, that would be presented to the host.
    public func user(for url: URL) -> String? {
        loop.configuration.trust(for: url).client.map { "\($0.file) \($0.keyFile ?? "")" }
    }

    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try request.validate()
        let transfer = CurlTransfer(request: request, loop: loop)
        let head = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { transfer.start(waiter: $0) }
        } onCancel: {
            transfer.cancel()
        }
        let body = TransportBody(
            next: {
                // The next chunk is mostly available already and needs no wait.
                if let ready = transfer.takeReady() { return try ready.get() }
                return try await withTaskCancellationHandler {
                    try await withCheckedThrowingContinuation { transfer.pull(waiter: $0) }
                } onCancel: {
                    transfer.cancel()
                }
            },
            cancel: { transfer.cancel() },
            metrics: { transfer.metrics })
        return TransportResponse(head: head, body: body)
    }
}

extension CurlTransport.Configuration {
    /// The proxy for connections to servers.
    ///
    /// Hosts, ports and schemes of an `AddressPolicy` are checked with a proxy too. If it requires public addresses, no
    /// proxy is used, whatever is set here: the addresses to which a proxy connects cannot be checked.
    public enum Proxy: Sendable, Hashable {
        /// The proxy that the environment names when a connection is made: `http_proxy` (in lower case only),
        /// `https_proxy` or `HTTPS_PROXY`, else `ALL_PROXY`; no proxy for the hosts in `no_proxy`.
        case environment
        /// No proxy.
        case none
        /// This proxy for all connections, whatever the environment says: an `http` or `https` URL, which may have a
        /// user name and a password for the proxy. If it cannot be reached, the download fails with a `DownloadError`
        /// of `.connection`.
        case server(URL)
    }

    /// The value of libcurl's option; nil leaves the proxy to the environment.
    var proxyText: String? {
        switch proxy {
        case .environment: nil
        case .none: ""
        case .server(let url): url.absoluteString
        }
    }
}

/// A certificate, with its key, that a client presents to a server that requests one.
public struct ClientCertificate: Sendable, Hashable {
    /// The path of a PEM file: the certificate, followed by those that lead to one that the server trusts.
    public var file: String
    /// The path of a PEM file with the private key; nil, the default, if the key is in the certificate's file.
    public var keyFile: String?
    /// The password of the key. Nil by default; if one is needed, the connection fails with a TLS error instead of a prompt.
    public var password: String?

    /// Creates a client certificate from paths. By default its file also has the key, which needs no password.
    public init(file: String, keyFile: String? = nil, password: String? = nil) {
        self.file = file
        self.keyFile = keyFile
        self.password = password
    }
}

extension ClientCertificate: CustomStringConvertible, CustomDebugStringConvertible {
    /// A description without the password.
    public var description: String { "client certificate \(file)" }
    public var debugDescription: String { description }
}

/// The certificates that a transport accepts, and those that it presents.
extension CurlTransport.Configuration {
    /// The TLS settings of the connections to one host.
    struct Trust: Equatable {
        var allowsInvalidCertificate = false
        var client: ClientCertificate?
    }

    func trust(for url: URL) -> Trust {
        let host = Self.name(url.host(percentEncoded: true) ?? "")
        return Trust(
            allowsInvalidCertificate: hostsWithInvalidCertificates.contains { Self.name($0) == host },
            client: clientCertificates.first { Self.name($0.key) == host }?.value)
    }

    /// Returns a host in the form in which hosts are compared; one that is not written as in a URL matches none.
    private static func name(_ host: String) -> String {
        let host = host.lowercased()
        return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}
