import Foundation
import HalcyonSystem

/// The transport on Linux: libcurl, all transfers on one thread of its own.
///
/// HTTP/1.1 and HTTP/2, kept connections, the proxy variables of the environment. No cookies unless `keepsCookies`, no .netrc, no redirects,
/// no unpacking, nothing but http and https. Header fields are read and written a character a byte (Latin-1).
/// The thread starts with the first transfer and ends when the transport is gone and its last transfer with it.
public final class CurlTransport: Transport {
    /// What all transfers share.
    public struct Configuration: Sendable {
        /// Whether HTTP/2 is offered on https connections. True.
        public var allowsHTTP2 = true
        /// A file of PEM certificates to trust instead of the system's. Nil, the default, trusts the system's.
        public var certificateFile: String?
        /// Hosts whose certificates are not looked at: neither who signed them nor for whom they are. Names as in a URL,
        /// without a port, each for itself alone. None by default. Whoever is on the way to them can read and change all.
        public var hostsWithInvalidCertificates: Set<String> = []
        /// What is shown to a host that asks for a certificate, by the host's name as in a URL, without a port. None by
        /// default.
        public var clientCertificates: [String: ClientCertificate] = [:]
        /// By way of which proxy servers are asked. `.environment`.
        public var proxy = Proxy.environment
        /// Connections that are kept for later when idle. 32.
        public var idleConnections = 32

        /// Whether cookies that servers set are sent back to them, by the rules of RFC 6265, for as long as the transport
        /// lives; they are in memory, and all its transfers share them. False by default: none is kept and none is sent.
        ///
        /// Caches keep what comes for the transport's downloader alone, unless it is `public`: for pictures that differ from
        /// one user to another, one of each. On disk it is found for as long as the downloader lives. A `Cookie` among a request's
        /// fields is sent beside them.
        public var keepsCookies = false

        public init() {}
    }

    /// Received bytes that may wait for their reader before the sender is held up.
    static let bufferLimit = 256 * 1024
    /// Received bytes that a waiting reader gets without waiting for more.
    static let chunkSize = 64 * 1024

    private let loop: CurlLoop

    public convenience init(_ configuration: Configuration = Configuration()) {
        self.init(configuration, onThreadEnd: {})
    }

    /// - Parameter onThreadEnd: called on the thread as the last thing it does.
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

    /// The certificate that the host would be shown, by its file's name.
    public func user(for url: URL) -> String? {
        guard let host = url.host(percentEncoded: true)?.lowercased() else { return nil }
        let certificate = loop.configuration.clientCertificates.first { $0.key.lowercased() == host }?.value
        return certificate.map { "\($0.file) \($0.keyFile ?? "")" }
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
                // Mostly what comes next is there already: then nothing is to be waited for.
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
