import Foundation

/// Which servers may be asked: for programs that take URLs from strangers, who would else reach what only this machine
/// reaches.
///
/// It holds for the URL, for each redirect, and for the address that is really connected to, so that a name that leads
/// somewhere else the second time is of no use. What it refuses ends in `DownloadError.Reason.refusedAddress`.
public struct AddressPolicy: Hashable, Sendable {
    /// In lower case; no others than http and https are possible.
    public var schemes: Set<String>
    /// Nil, the default, is all ports.
    public var ports: Set<Int>?
    /// Hosts that may be asked; nil, the default, is all. "example.com" is that host alone, ".example.com" it and all
    /// below it.
    public var allowedHosts: Set<String>?
    /// Hosts that may not, in the same way. None by default.
    public var deniedHosts: Set<String>
    /// Whether only addresses of the public Internet are connected to (`IPAddress.isPublic`). False by default.
    ///
    /// The proxies of the environment are passed by then: nobody sees what a proxy connects to.
    public var requiresPublicAddress: Bool

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

    /// Everything.
    public static let any = AddressPolicy()
    /// Hosts of the public Internet, at the usual ports.
    public static let publicInternet = AddressPolicy(ports: [80, 443], requiresPublicAddress: true)

    /// Refuses a URL by what it says.
    ///
    /// - Throws: `DownloadError` with `.refusedAddress`.
    public func check(_ url: URL) throws {
        guard self != .any else { return }
        if let refused = refusal(of: url) { throw DownloadError(.refusedAddress(refused), url: url) }
    }

    /// Whether an address may be connected to.
    public func allows(_ address: IPAddress) -> Bool {
        !requiresPublicAddress || address.isPublic
    }

    /// What is wrong with a URL; nil where nothing is.
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

    /// In lower case and without the dot that may end a name.
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
