import Foundation

/// Whom a transport trusts, and as whom it shows itself.
extension CurlTransport.Configuration {
    /// What an https connection to one host is made with.
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

    /// A host as hosts are compared; one that is not written as in a URL is none.
    private static func name(_ host: String) -> String {
        let host = host.lowercased()
        return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}
