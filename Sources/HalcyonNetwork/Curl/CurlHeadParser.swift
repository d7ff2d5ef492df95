import Foundation

/// Reads the lines of heads as libcurl hands them over, and yields the final one.
///
/// A transfer may have several heads: each 1xx, then the answer's, then the trailer of a body in pieces. Only the
/// answer's is kept.
struct CurlHeadParser {
    /// The largest head in bytes, all heads of a transfer together.
    static let limit = 256 * 1024

    /// The most 1xx answers before the final one.
    static let informationalLimit = 32

    enum Outcome {
        case more
        case head(HTTPResponseHead)
        case refused(DownloadError.Reason)
    }

    private let url: URL
    /// Whether a 401 may be answered by libcurl itself: its head is kept back then until it is known that it is the last.
    private let holdsChallenges: Bool
    private var held: HTTPResponseHead?
    private var status = 0
    private var version = HTTPVersion.http11
    private var fields: [HTTPHeaders.Field] = []
    private var size = 0
    private var informationalCount = 0
    /// Whether the status line has come, and the empty line not yet.
    private var isInside = false
    /// Whether the final head was handed out; only trailers follow.
    private(set) var isDone = false

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
        guard size <= Self.limit else { return .refused(.tooLarge(limit: Self.limit)) }
        guard !isDone else { return .more }
        let line = HeaderText.withoutLineEnd(bytes)
        guard !line.isEmpty else { return end() }
        if line.first == UInt8(ascii: "H"), line.starts(with: "HTTP/".utf8) {
            // A second one would be another answer to us than to libcurl, which takes it for a field.
            guard !isInside else { return .refused(.connection(.badAnswer)) }
            begin(line)
            return .more
        }
        // The trailer of a challenge's body, else nothing that HTTP has.
        guard isInside else { return held == nil ? .refused(.connection(.badAnswer)) : .more }
        if line.first == 0x20 || line.first == 0x09 {
            // A field folded over lines, as old servers write it.
            guard let last = fields.indices.last else { return .refused(.connection(.badAnswer)) }
            guard !Self.isTransferEncoding(fields[last].name) else { return .refused(.connection(.transferEncoding)) }
            fields[last].value += " " + HeaderText.text(HeaderText.trimmed(line))
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            let value = HeaderText.text(HeaderText.trimmed(line[(colon + 1)...]))
            let name = HeaderText.text(line[..<colon])
            if Self.isTransferEncoding(name), !acceptsTransferEncoding(value) {
                return .refused(.connection(.transferEncoding))
            }
            fields.append(HTTPHeaders.Field(name: name, value: value))
        }
        return .more
    }

    /// libcurl undoes other transfer codings by itself, without limits, while all transfers wait; it has set that up
    /// already, but no byte of the body is unpacked before the head has been read here.
    private func acceptsTransferEncoding(_ value: String) -> Bool {
        // libcurl reads the body after a 1xx by the coding that the 1xx names.
        status >= 200 && value.lowercased() == "chunked"
    }

    private static func isTransferEncoding(_ name: String) -> Bool {
        // Most names are ruled out by their length; blanks before the colon make a longer one.
        name.utf8.count >= 17 && name.lowercased().hasPrefix("transfer-encoding")
    }

    /// The end of a head; the informational ones are followed by another.
    private mutating func end() -> Outcome {
        guard isInside else { return .more }
        isInside = false
        guard status >= 200 else {
            informationalCount += 1
            return informationalCount > Self.informationalLimit ? .refused(.connection(.badAnswer)) : .more
        }
        let head = HTTPResponseHead(url: url, status: status, headers: HTTPHeaders(fields), version: version)
        if holdsChallenges, status == 401 {
            held = head
            return .more
        }
        isDone = true
        return .head(head)
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
        isInside = true
        fields = []
        fields.reserveCapacity(12)
        held = nil
    }
}
