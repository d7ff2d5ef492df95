import Foundation
import HalcyonNetwork

/// Makes the text by which the caches know a URL, where the URL itself says too much: a signature that changes with each
/// request would make each a miss.
///
/// Equal texts must mean equal images: what a filter strips must not change what the server sends.
public struct CacheKeyFilter: Sendable {
    private let makeKey: @Sendable (URL) -> String

    public init(_ makeKey: @escaping @Sendable (URL) -> String) {
        self.makeKey = makeKey
    }

    /// The text for a URL.
    public func key(for url: URL) -> String { makeKey(url) }

    /// Leaves query items out, by name; upper and lower case are the same. The others keep their order.
    ///
    /// - Parameter hosts: the hosts whose URLs it changes, and those below them; nil is all.
    public static func strippingQuery(_ names: some Sequence<String>, hosts: [String]? = nil) -> CacheKeyFilter {
        let names = Set(names.map { $0.lowercased() })
        let hosts = hosts?.map { $0.lowercased() }
        return CacheKeyFilter { url in
            guard Self.isHost(of: url, among: hosts) else { return url.withoutFragment }
            return Self.stripping(url) { names.contains($0.lowercased()) }
        }
    }

    /// Leaves out what signs a URL of Amazon S3, and of what copies it: the `X-Amz-…` items, and the older `Signature`,
    /// `Expires` and `AWSAccessKeyId`.
    ///
    /// - Parameter hosts: nil is all hosts.
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

    /// By text and not by `URLComponents`, which would write the rest of the URL anew.
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
