import Foundation

/// Reads the lines of heads as libcurl hands them over, and yields the final one.
///
/// A transfer may have several heads: each 1xx, then the answer's, then the trailer of a body in pieces. Only the
/// answer's is kept.
struct CurlHeadParser {
    /// The largest head in bytes, all heads of a transfer together.
    static let limit = 256 * 1024

    enum Outcome {
        case more
        case head(HTTPResponseHead)
        case tooLarge
    }

    private let url: URL
    /// Whether a 401 may be answered by libcurl itself: its head is kept back then until it is known that it is the last.
    private let holdsChallenges: Bool
    private var held: HTTPResponseHead?
    private var status = 0
    private var version = HTTPVersion.http11
    private var fields: [HTTPHeaders.Field] = []
    private var size = 0
    private var isDone = false

    init(url: URL, holdsChallenges: Bool = false) {
        self.url = url
        self.holdsChallenges = holdsChallenges
    }

    /// The head that was kept back, and is the answer's after all.
    mutating func takeHeld() -> HTTPResponseHead? {
        guard let head = held else { return nil }
        held = nil
        isDone = true
        return head
    }

    mutating func read(line bytes: UnsafeRawBufferPointer) -> Outcome {
        size += bytes.count
        guard size <= Self.limit else { return .tooLarge }
        guard !isDone else { return .more }
        let line = HeaderText.withoutLineEnd(bytes)
        if line.isEmpty {
            // The end of a head; the informational ones are followed by another.
            guard status >= 200 else { return .more }
            let head = HTTPResponseHead(url: url, status: status, headers: HTTPHeaders(fields), version: version)
            if holdsChallenges, status == 401 {
                held = head
                return .more
            }
            isDone = true
            return .head(head)
        }
        if line.first == UInt8(ascii: "H"), line.starts(with: "HTTP/".utf8) {
            begin(line)
        } else if line.first == 0x20 || line.first == 0x09 {
            // A field folded over lines, as old servers write it.
            guard let last = fields.indices.last else { return .more }
            fields[last].value += " " + HeaderText.text(HeaderText.trimmed(line))
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            let value = HeaderText.text(HeaderText.trimmed(line[(colon + 1)...]))
            fields.append(HTTPHeaders.Field(name: HeaderText.text(line[..<colon]), value: value))
        }
        return .more
    }

    private mutating func begin(_ statusLine: Slice<UnsafeRawBufferPointer>) {
        let words = statusLine.split(separator: 0x20, maxSplits: 2)
        status = words.count > 1 ? Int(HeaderText.text(words[1])) ?? 0 : 0
        version =
            switch words.first.map(HeaderText.text) {
            case "HTTP/1.0": .http10
            case "HTTP/2", "HTTP/2.0": .http2
            case "HTTP/3": .http3
            default: .http11
            }
        fields = []
        fields.reserveCapacity(12)
        held = nil
    }
}
