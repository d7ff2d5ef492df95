import Foundation

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
