/// The media types that a client takes, as its `Accept` field says (RFC 9110, 12.5.1).
///
/// Parts that make no sense are left out, and at most 64 are read. A client without the field, or with an empty one, takes
/// everything.
struct AcceptField: Hashable, Sendable {
    private struct Range: Hashable {
        let type: Substring
        let subtype: Substring
        /// In thousandths.
        let quality: Int
    }

    private let ranges: [Range]

    init(_ field: String?) {
        let parts = (field ?? "").split(separator: ",", maxSplits: 64).prefix(64)
        ranges = parts.compactMap { Self.range($0) }
    }

    /// Whether the client names the type itself, and not only a group with `*`: browsers say `image/*` and mean formats of their
    /// own time.
    func names(_ mediaType: String) -> Bool {
        let (type, subtype) = Self.halves(mediaType)
        return ranges.contains { $0.quality > 0 && $0.type == type && $0.subtype == subtype }
    }

    /// The quality that the client gives a type, in thousandths, by the most exact of its ranges; 0 refuses it.
    func quality(of mediaType: String) -> Int {
        if ranges.isEmpty { return 1000 }
        let (type, subtype) = Self.halves(mediaType)
        func quality(_ matches: (Range) -> Bool) -> Int? { ranges.filter(matches).map(\.quality).max() }
        return quality { $0.type == type && $0.subtype == subtype }
            ?? quality { $0.type == type && $0.subtype == "*" }
            ?? quality { $0.type == "*" && $0.subtype == "*" } ?? 0
    }

    private static func halves(_ mediaType: String) -> (Substring, Substring) {
        let slash = mediaType.firstIndex(of: "/") ?? mediaType.endIndex
        return (mediaType[..<slash], mediaType[slash...].dropFirst())
    }

    private static func range(_ part: Substring) -> Range? {
        let pieces = part.split(separator: ";", omittingEmptySubsequences: false).map { trimmed($0) }
        guard let name = pieces.first, let slash = name.firstIndex(of: "/") else { return nil }
        let (type, subtype) = (name[..<slash].lowercased(), name[slash...].dropFirst().lowercased())
        guard !type.isEmpty, !subtype.isEmpty, !(type == "*" && subtype != "*") else { return nil }
        var quality = 1000
        for piece in pieces.dropFirst() where piece.lowercased().hasPrefix("q=") {
            guard let value = Self.quality(piece.dropFirst(2)) else { return nil }
            quality = value
        }
        return Range(type: Substring(type), subtype: Substring(subtype), quality: quality)
    }

    /// A `qvalue`: 0 or 1 with at most three digits.
    private static func quality(_ text: Substring) -> Int? {
        let digits = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = digits.first, whole == "0" || whole == "1", digits.count <= 2 else { return nil }
        var fraction = digits.count == 2 ? String(digits[1]) : ""
        guard fraction.utf8.count <= 3, fraction.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        fraction += String(repeating: "0", count: 3 - fraction.utf8.count)
        guard let thousandths = Int(fraction), whole == "0" || thousandths == 0 else { return nil }
        return whole == "1" ? 1000 : thousandths
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
