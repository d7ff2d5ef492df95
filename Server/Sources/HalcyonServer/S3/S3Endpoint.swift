import Foundation
import HalcyonNetwork
import ImageURLs

/// The place of a store, and the URLs of its objects.
struct S3Endpoint: Sendable {
    private let base: SourceURL
    private let prefix: String
    private let isOwn: Bool
    private let usesPathStyle: Bool

    /// - Throws: `ServerConfigurationError`.
    init(_ settings: ServerConfiguration.S3) throws {
        let region = settings.region
        guard (1...63).contains(region.utf8.count),
            region.utf8.allSatisfy({ Self.isLowercaseOrDigit($0) || $0 == UInt8(ascii: "-") })
        else { throw ServerConfigurationError.badValue(key: "s3.region", reason: "it has small letters, digits and -") }
        let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        guard let url = try? SourceURL(settings.endpoint ?? "https://s3.\(region).\(domain)"),
            url.scheme == "http" || url.scheme == "https", url.query == nil
        else {
            throw ServerConfigurationError.badValue(
                key: "s3.endpoint", reason: "it is a URL with http or https, without a user or a query")
        }
        base = url
        prefix = String(url.path.hasSuffix("/") ? url.path.dropLast() : Substring(url.path))
        isOwn = settings.endpoint != nil
        usesPathStyle = isOwn && settings.usesPathStyle
    }

    /// The policy of addresses for this store alone. It is the operator's choice, and may well be in a private network.
    var addressPolicy: AddressPolicy {
        let host = base.host.hasPrefix("[") ? String(base.host.dropFirst().dropLast()) : base.host
        return AddressPolicy(
            schemes: [base.scheme], ports: [base.port ?? (base.scheme == "https" ? 443 : 80)],
            allowedHosts: usesPathStyle ? [host] : [host, "." + host])
    }

    /// Returns the URL of an object.
    ///
    /// - Throws: `ImageURLError.source` for a bucket that no store has.
    func url(of object: S3Object) throws(ImageURLError) -> URL {
        // Buckets had capitals, underscores and more than 63 characters once. MinIO's own interface is at the place of one bucket.
        guard (3...255).contains(object.bucket.utf8.count), !(isOwn && object.bucket == "minio") else {
            throw .source(.host)
        }
        let isInPath = usesPathStyle || !Self.isLabel(object.bucket)
        let host = isInPath ? base.host : "\(object.bucket).\(base.host)"
        let port = base.port.map { ":\($0)" } ?? ""
        let key = S3Encoding.encoded(object.key, keepsSlashes: true)
        let path = isInPath ? "\(prefix)/\(object.bucket)/\(key)" : "\(prefix)/\(key)"
        let query = object.version.map { "?versionId=\($0)" } ?? ""
        guard let url = URL(string: "\(base.scheme)://\(host)\(port)\(path)\(query)") else { throw .source(.character) }
        return url
    }

    /// Whether a bucket is the same one as the first label of a host: hosts have no capitals, and certificates one label for `*`.
    private static func isLabel(_ bucket: String) -> Bool {
        bucket.utf8.count <= 63 && !bucket.hasPrefix("-") && !bucket.hasSuffix("-")
            && bucket.utf8.allSatisfy { isLowercaseOrDigit($0) || $0 == UInt8(ascii: "-") }
    }

    private static func isLowercaseOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
