/// The range of a body that a `Content-Range` field names: `bytes 500-999/1000`.
struct ContentRange: Equatable {
    let first: Int
    let last: Int
    /// The length of the whole body in bytes; nil if it is unknown.
    let total: Int?

    /// Parses a field's value; nil for anything else, including a range that contradicts itself.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < Int.max
        else { return nil }
        let total = Self.number(parts[1])
        guard parts[1] == "*" || total.map({ last < $0 }) ?? false else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int(text)
    }
}
