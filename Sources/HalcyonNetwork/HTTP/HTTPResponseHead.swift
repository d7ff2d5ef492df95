import Foundation

/// An answer's status and header fields, without its body.
public struct HTTPResponseHead: Sendable, Equatable {
    /// The URL that answered: of one hop, since a transport follows no redirects.
    public var url: URL
    public var status: Int
    public var headers: HTTPHeaders
    public var version: HTTPVersion

    public init(url: URL, status: Int, headers: HTTPHeaders = HTTPHeaders(), version: HTTPVersion = .http11) {
        self.url = url
        self.status = status
        self.headers = headers
        self.version = version
    }

    /// What `Content-Encoding` names, in lower case and in the order it was applied, without `identity`.
    public var contentCodings: [String] {
        // As nearly all answers with images are.
        guard headers.contains("Content-Encoding") else { return [] }
        return headers.values(of: "Content-Encoding").flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }.filter { !$0.isEmpty && $0 != "identity" }
    }

    /// The length that the answer declares for its body in bytes; nil without one, or when two disagree.
    public var contentLength: Int? {
        let fields = headers.fields.lazy.filter { HTTPHeaders.isSame($0.name, "Content-Length") }
        guard let one = fields.first?.value else { return nil }
        // As nearly all of them are: one number of a length that fits.
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
