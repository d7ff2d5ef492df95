import Foundation

/// A parser of the header lines that libcurl passes on, which returns the head of the final response.
///
/// A transfer may have several heads: one for each 1xx, that of the final response, and the trailer of a chunked body.
/// Only the head of the final response is kept.
struct CurlHeadParser {
    /// The largest size of all heads of a transfer together, in bytes.
    static let limit = 256 * 1024

    /// The largest number of 1xx responses before the final one.
    static let informationalLimit = 32

    enum Outcome {
        case more
        case head(HTTPResponseHead)
        case refused(DownloadError.Reason)
    }

    private let url: URL
    /// Whether libcurl may answer a 401 itself: its head is held back then until it is known to be the last one.
    private let holdsChallenges: Bool
    private var held: HTTPResponseHead?
    private var status = 0
    private var version = HTTPVersion.http11
    private var fields: [HTTPHeaders.Field] = []
    private var size = 0
    private var informationalCount = 0
    /// Whether the parser is between the status line and the empty line of a head.
    private var isInside = false
    /// Whether the final head was returned; only trailers follow.
    private(set) var isDone = false

    init(url: URL, holdsChallenges: Bool) {
        self.url = url
        self.holdsChallenges = holdsChallenges
    }

    /// Returns the head that was held back and turns out to be the final one.
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
            // A second status line would mean a different response here than for libcurl, which reads it as a field.
            guard !isInside else { return .refused(.connection(.badAnswer)) }
            begin(line)
            return .more
        }
        // Either the trailer of a challenge's body, or a line that is invalid in HTTP.
        guard isInside else { return held == nil ? .refused(.connection(.badAnswer)) : .more }
        if line.first == 0x20 || line.first == 0x09 {
            // A field that is folded over several lines, as old servers send it.
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

    /// Returns whether a transfer coding is accepted. libcurl decodes other codings than `chunked` by itself, without
    /// limits, while all transfers wait; it has already set that up, but no byte of the body is decoded before the head
    /// was read here.
    private func acceptsTransferEncoding(_ value: String) -> Bool {
        // After a 1xx, libcurl reads the body by the coding that the 1xx names.
        status >= 200 && value.lowercased() == "chunked"
    }

    private static func isTransferEncoding(_ name: String) -> Bool {
        // Most names are ruled out by their length; a name with spaces before the colon is longer.
        name.utf8.count >= 17 && name.lowercased().hasPrefix("transfer-encoding")
    }

    /// Ends a head; an informational one is followed by another.
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

/// A converter between the bytes and the text of header lines: one character per byte (Latin-1), so that a server's
/// values are sent back unchanged.
enum HeaderText {
    /// Returns a part of a received line as text. A character that would break the line when sent back becomes a space.
    static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        if bytes.allSatisfy({ $0 < 0x80 && $0 > 0x0D }) { return String(decoding: bytes, as: UTF8.self) }
        let scalars = bytes.map { $0 == 0x0D || $0 == 0x0A || $0 == 0 ? " " : Unicode.Scalar($0) }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Returns a line without the line breaks at its end.
    static func withoutLineEnd(_ line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        var line = line[...]
        while let last = line.last, last == 0x0A || last == 0x0D { line.removeLast() }
        return line
    }

    /// Returns bytes without the spaces and tabs around them. Only these two: read as text, bytes of UTF-8 may look
    /// like other kinds of white space.
    static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        var bytes = bytes.drop(while: isBlank)
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return bytes
    }

    /// Returns the bytes of a line to send, with the terminating zero of C; in UTF-8 if a character does not fit into
    /// one byte.
    static func bytes(of line: String) -> [UInt8] {
        if line.utf8.allSatisfy({ $0 < 0x80 }) { return Array(line.utf8) + [0] }
        let scalars = line.unicodeScalars
        let isLatin = scalars.allSatisfy { $0.value <= 0xFF }
        return (isLatin ? scalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(line.utf8)) + [0]
    }
}
