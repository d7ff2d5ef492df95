import Foundation

/// The servers to which a downloader may connect. It is for programs that accept URLs from strangers, who could
/// otherwise reach hosts that only this machine reaches.
///
/// It applies to the URL, to each redirect, and to the address that is actually connected to, so a host name that
/// resolves to another address the second time does not get around it. Refused downloads fail with
/// `DownloadError.Reason.refusedAddress`.
public struct AddressPolicy: Hashable, Sendable {
    /// The allowed schemes, in lower case; only http and https are possible.
    public var schemes: Set<String>
    /// The allowed ports; nil, the default, allows all.
    public var ports: Set<Int>?
    /// The allowed hosts; nil, the default, allows all. "example.com" is that host alone, ".example.com" the host and
    /// all its subdomains.
    public var allowedHosts: Set<String>?
    /// The denied hosts, in the same form. None by default.
    public var deniedHosts: Set<String>
    /// Whether only addresses of the public Internet are allowed (`IPAddress.isPublic`). False by default.
    ///
    /// If it is true, the proxies of the environment are not used: the addresses to which a proxy connects cannot be checked.
    public var requiresPublicAddress: Bool

    /// Creates a policy. Without arguments it allows everything, as `.any`.
    public init(
        schemes: Set<String> = ["http", "https"], ports: Set<Int>? = nil, allowedHosts: Set<String>? = nil,
        deniedHosts: Set<String> = [], requiresPublicAddress: Bool = false
    ) {
        self.schemes = schemes
        self.ports = ports
        self.allowedHosts = allowedHosts
        self.deniedHosts = deniedHosts
        self.requiresPublicAddress = requiresPublicAddress
    }

    /// A policy that allows everything.
    public static let any = AddressPolicy()
    /// A policy that allows hosts of the public Internet, on ports 80 and 443.
    public static let publicInternet = AddressPolicy(ports: [80, 443], requiresPublicAddress: true)

    /// Checks a URL's scheme, port and host.
    ///
    /// - Throws: `DownloadError` with `.refusedAddress` if it is not allowed.
    public func check(_ url: URL) throws(DownloadError) {
        guard self != .any else { return }
        if let refused = refusal(of: url) { throw DownloadError(.refusedAddress(refused), url: url) }
    }

    /// Returns whether connections to a numeric address are allowed, such as `192.0.2.1` or `2001:db8::1`; false for any other
    /// text. A transport asks it before it connects to an address that a name has led to.
    public func allows(address: String) -> Bool {
        IPAddress(host: address).map { allows($0) } ?? false
    }

    package func allows(_ address: IPAddress) -> Bool {
        !requiresPublicAddress || address.isPublic
    }

    /// Returns the part of a URL that is not allowed; nil if the URL is allowed.
    private func refusal(of url: URL) -> String? {
        let scheme = url.scheme?.lowercased() ?? ""
        guard schemes.contains(scheme) else { return "scheme \(scheme)" }
        let port = url.port ?? (scheme == "https" ? 443 : 80)
        guard ports?.contains(port) ?? true else { return "port \(port)" }
        let host = Self.plain(url.host(percentEncoded: false) ?? "")
        if Self.names(deniedHosts, host) || !(allowedHosts.map { Self.names($0, host) } ?? true) { return host }
        if let address = IPAddress(host: host), !allows(address) { return "\(address)" }
        return nil
    }

    /// Returns a host name in lower case and without a trailing dot.
    private static func plain(_ host: String) -> String {
        let host = host.lowercased()
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }

    private static func names(_ list: Set<String>, _ host: String) -> Bool {
        list.contains { entry in
            let entry = plain(entry)
            guard entry.hasPrefix(".") else { return entry == host }
            return host == entry.dropFirst() || host.hasSuffix(entry)
        }
    }
}
