import Foundation

extension CurlTransport.Configuration {
    /// The way to servers.
    ///
    /// Hosts, ports and schemes of an `AddressPolicy` hold behind a proxy too. Where it wants public addresses no proxy is
    /// used, whatever is set here: nobody sees what a proxy connects to.
    public enum Proxy: Sendable, Hashable {
        /// As the environment says when a connection is made: `http_proxy` (in lower case only), `https_proxy` or
        /// `HTTPS_PROXY`, else `ALL_PROXY`; none for the hosts in `no_proxy`.
        case environment
        /// Never by way of one.
        case none
        /// Always by way of this one, whatever the environment says: an `http` or `https` URL, which may have a name and a
        /// password for the proxy. One that cannot be reached is a `DownloadError` of `.connection`.
        case server(URL)
    }

    /// What libcurl calls it; nil leaves it to the environment.
    var proxyText: String? {
        switch proxy {
        case .environment: nil
        case .none: ""
        case .server(let url): url.absoluteString
        }
    }
}
