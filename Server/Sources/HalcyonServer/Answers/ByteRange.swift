/// The answer to a `Range` field for a body of known length (RFC 9110, 14).
///
/// One range of bytes is served. A field with several ranges, another unit or broken syntax is ignored, as the RFC allows: a client
/// gets the whole body. Gathering many small ranges would be work for nothing, which attackers ask for.
enum ByteRange: Hashable, Sendable {
    /// The whole body, with status 200.
    case whole
    /// A part, with status 206.
    case part(Range<Int>)
    /// No byte of the body is in the range: status 416.
    case unsatisfiable

    /// - Parameters:
    ///   - field: the value of `Range`.
    ///   - condition: the value of `If-Range`; any other than `etag` means that the client has a part of another body.
    ///   - etag: the body's own tag.
    ///   - count: the length of the body.
    init(_ field: String?, ifRange condition: String?, etag: String, count: Int) {
        self = .whole
        guard let field, condition == nil || condition == etag else { return }
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return }
        let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false).map { Self.number($0) }
        guard ends.count == 2 else { return }
        switch (ends[0], ends[1]) {
        case (.number(let first), .nothing): self = Self.part(from: first, to: count, of: count)
        case (.number(let first), .number(let last)) where first <= last:
            self = Self.part(from: first, to: last >= count ? count : last + 1, of: count)
        case (.nothing, .number(let length)): self = Self.part(from: max(0, count - length), to: count, of: count)
        default: return
        }
    }

    private static func part(from first: Int, to end: Int, of count: Int) -> ByteRange {
        first < end && first < count ? .part(first..<end) : .unsatisfiable
    }

    private enum End {
        case nothing
        case number(Int)
        case broken
    }

    private static func number(_ text: Substring) -> End {
        let text = text.drop { $0 == " " }.prefix { $0 != " " }
        if text.isEmpty { return .nothing }
        guard text.utf8.allSatisfy({ (48...57).contains($0) }) else { return .broken }
        // More digits than a length can have mean a place behind every end.
        return .number(Int(text) ?? .max)
    }
}
