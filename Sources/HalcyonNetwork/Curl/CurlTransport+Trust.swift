import Foundation

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
