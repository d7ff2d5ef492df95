import Crypto
import Foundation
import HalcyonNetwork

/// The signatures of requests to a store: Amazon's Signature Version 4, as its documentation "Authenticating Requests: Using the
/// Authorization Header" for S3 has it.
///
/// libcurl can sign too, but Debian 12's 7.88 neither sorts a query nor encodes a path as the store does.
struct S3Signer: Sendable {
    private let accessKey: String
    private let secretKey: String
    private let sessionToken: String?
    private let region: String

    /// - Throws: `ServerConfigurationError`, without the key.
    init(_ settings: ServerConfiguration.S3) throws {
        func checked(_ name: String, _ value: String?) throws -> String {
            guard let value, !value.isEmpty, value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw ServerConfigurationError.badValue(key: name, reason: "it is missing, or no key")
            }
            return value
        }
        accessKey = try checked("s3.accessKey", settings.accessKey)
        secretKey = try checked("s3.secretKey", settings.secretKey)
        let token = settings.sessionToken ?? ""
        sessionToken = token.isEmpty ? nil : try checked("s3.sessionToken", token)
        region = settings.region
    }

    /// Returns a request without a body with its signature. Signed are the method, the URL, the moment and `signedFields`: others
    /// may be added later.
    func signed(_ request: TransportRequest, at moment: Date, signedFields: [String] = []) -> TransportRequest {
        var signed = request
        let (day, time) = Self.texts(of: moment)
        let emptyHash = Self.hexadecimal(SHA256.hash(data: Data()))
        signed.headers.remove("Host")
        signed.headers.set("x-amz-content-sha256", emptyHash)
        signed.headers.set("x-amz-date", time)
        signed.headers["x-amz-security-token"] = sessionToken
        let parts = Self.parts(of: request.url)
        var fields = [("host", parts.host), ("x-amz-content-sha256", emptyHash), ("x-amz-date", time)]
        if let sessionToken { fields.append(("x-amz-security-token", sessionToken)) }
        fields += signedFields.map { ($0.lowercased(), request.headers[$0] ?? "") }
        fields.sort { $0.0 < $1.0 }
        let names = fields.map(\.0).joined(separator: ";")
        let lines = fields.map { "\($0.0):\($0.1)\n" }.joined()
        let canonical = [request.method, parts.path, parts.query, lines, names, emptyHash].joined(separator: "\n")
        let scope = "\(day)/\(region)/s3/aws4_request"
        let text = ["AWS4-HMAC-SHA256", time, scope, Self.hexadecimal(SHA256.hash(data: Data(canonical.utf8)))]
            .joined(separator: "\n")
        var key = SymmetricKey(data: Data("AWS4\(secretKey)".utf8))
        for part in [day, region, "s3", "aws4_request"] {
            key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: key))
        }
        let signature = Self.hexadecimal(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
        signed.headers.set(
            "Authorization",
            "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope),SignedHeaders=\(names),Signature=\(signature)")
        return signed
    }

    /// Returns the parts of a URL as they are signed: its own text, as foundation's properties leave out slashes at the end.
    private static func parts(of url: URL) -> (host: String, path: String, query: String) {
        let text = url.absoluteString
        let rest = text.range(of: "://").map { text[$0.upperBound...] } ?? text[...]
        let mark = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let target = rest[mark...]
        let path = target.prefix { $0 != "?" }
        let items = target.dropFirst(path.count + 1).split(separator: "&").map { item in
            let name = item.prefix { $0 != "=" }
            return (name: String(name), value: String(item.dropFirst(name.count + 1)))
        }
        let query = items.sorted { ($0.name, $0.value) < ($1.name, $1.value) }.map { "\($0.name)=\($0.value)" }
        return (String(rest[..<mark]), path.isEmpty ? "/" : String(path), query.joined(separator: "&"))
    }

    /// Returns a moment as `20130524` and `20130524T000000Z`.
    private static func texts(of moment: Date) -> (day: String, time: String) {
        var (seconds, parts) = (time_t(moment.timeIntervalSince1970), tm())
        gmtime_r(&seconds, &parts)
        func digits(_ value: Int32, _ count: Int) -> String {
            let text = String(value)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        let day = digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2)
        return (day, "\(day)T\(digits(parts.tm_hour, 2))\(digits(parts.tm_min, 2))\(digits(parts.tm_sec, 2))Z")
    }

    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
