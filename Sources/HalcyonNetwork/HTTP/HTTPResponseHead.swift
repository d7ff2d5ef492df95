import Foundation

/// A response's status and header fields, without its body.
public struct HTTPResponseHead: Sendable, Equatable {
    /// The URL of the request, which is that of one hop, since a transport does not follow redirects.
    public var url: URL
    /// The status code, such as 200.
    public var status: Int
    /// The header fields in the order in which they were received.
    public var headers: HTTPHeaders
    /// The protocol version of the response.
    public var version: HTTPVersion

    /// Creates a head, by default without header fields and as HTTP/1.1.
    public init(url: URL, status: Int, headers: HTTPHeaders = HTTPHeaders(), version: HTTPVersion = .http11) {
        self.url = url
        self.status = status
        self.headers = headers
        self.version = version
    }

    /// The codings that `Content-Encoding` names, in lower case and in the order in which they were applied, without
    /// `identity`.
    public var contentCodings: [String] {
        // Nearly all responses with images have none.
        guard headers.contains("Content-Encoding") else { return [] }
        return headers.values(of: "Content-Encoding").flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }.filter { !$0.isEmpty && $0 != "identity" }
    }

    /// The declared length of the body in bytes; nil without one, or if two values disagree.
    public var contentLength: Int? {
        let fields = headers.fields.lazy.filter { HTTPHeaders.isSame($0.name, "Content-Length") }
        guard let one = fields.first?.value else { return nil }
        // Nearly all responses have one number that fits into `Int`.
        if one.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), fields.allSatisfy({ $0.value == one }) {
            return Int(one)
        }
        let values = fields.flatMap { $0.value.split(separator: ",") }.map { $0.trimmingCharacters(in: .whitespaces) }
        guard let first = values.first, values.allSatisfy({ $0 == first }),
            first.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 })
        else { return nil }
        return Int(first)
    }
}

/// The protocol version of a response.
public enum HTTPVersion: String, Sendable, Hashable, Codable {
    /// HTTP/1.0 (RFC 1945).
    case http10 = "HTTP/1.0"
    /// HTTP/1.1 (RFC 9112).
    case http11 = "HTTP/1.1"
    /// HTTP/2 (RFC 9113).
    case http2 = "HTTP/2"
    /// HTTP/3 (RFC 9114).
    case http3 = "HTTP/3"
}
