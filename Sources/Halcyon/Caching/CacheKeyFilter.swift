import Foundation
import HalcyonNetwork

/// A function from a URL to the text by which the caches know it, for URLs that carry more than their image's identity: a
/// signature that changes with each request would make each request a miss.
///
/// Equal texts must mean equal images: a filter must not strip anything that changes the server's response.
public struct CacheKeyFilter: Sendable {
    private let makeKey: @Sendable (URL) -> String

    /// Creates a filter from a function that returns the text for a URL.
    ///
    /// The function is called on any thread, whenever a key is made for a URL, and must always return the same text for
    /// it.
    public init(_ makeKey: @escaping @Sendable (URL) -> String) {
        self.makeKey = makeKey
    }

    /// Returns the text for a URL.
    public func key(for url: URL) -> String { makeKey(url) }

    /// Returns a filter that removes query items by name, ignoring case. The other items keep their order.
    ///
    /// - Parameter hosts: the hosts whose URLs the filter changes, with their subdomains; nil, the default, means all hosts.
    public static func strippingQuery(_ names: some Sequence<String>, hosts: [String]? = nil) -> CacheKeyFilter {
        let names = Set(names.map { $0.lowercased() })
        let hosts = hosts?.map { $0.lowercased() }
        return CacheKeyFilter { url in
            guard Self.isHost(of: url, among: hosts) else { return url.withoutFragment }
            return Self.stripping(url) { names.contains($0.lowercased()) }
        }
    }

    /// Returns a filter that removes the signature from URLs of Amazon S3 and of compatible services: the `X-Amz-…` items, and
    /// the older `Signature`, `Expires` and `AWSAccessKeyId`.
    ///
    /// - Parameter hosts: the hosts whose URLs the filter changes, with their subdomains; `amazonaws.com` by default, nil means
    ///   all hosts.
    public static func s3(hosts: [String]? = ["amazonaws.com"]) -> CacheKeyFilter {
        let hosts = hosts?.map { $0.lowercased() }
        let older: Set = ["signature", "expires", "awsaccesskeyid"]
        return CacheKeyFilter { url in
            guard Self.isHost(of: url, among: hosts) else { return url.withoutFragment }
            return Self.stripping(url) { name in
                let name = name.lowercased()
                return name.hasPrefix("x-amz-") || older.contains(name)
            }
        }
    }

    private static func isHost(of url: URL, among hosts: [String]?) -> Bool {
        guard let hosts else { return true }
        guard let host = url.host()?.lowercased() else { return false }
        return hosts.contains { host == $0 || host.hasSuffix(".\($0)") }
    }

    /// Removes query items from the URL's text. `URLComponents` would rewrite the rest of the URL.
    private static func stripping(_ url: URL, _ isStripped: (String) -> Bool) -> String {
        let text = url.withoutFragment
        guard let question = text.firstIndex(of: "?") else { return text }
        let kept = text[text.index(after: question)...]
            .split(separator: "&", omittingEmptySubsequences: false)
            .filter { item in
                let name = item.prefix { $0 != "=" }
                return !isStripped(name.removingPercentEncoding ?? String(name))
            }
        let base = text[..<question]
        return kept.isEmpty ? String(base) : "\(base)?\(kept.joined(separator: "&"))"
    }
}
