/// The parts of style sheets that take time for each element, counted without a look at which elements they are for.
struct SVGSheet {
    /// The simple selectors and combinators of all rules.
    private(set) var selectors = 0
    /// The combinators that look at the elements around one.
    private(set) var ancestorSelectors = 0
    private(set) var declarations = 0

    private static let marks = Set(".[:#,+~>*".utf8)
    private static let combinators = Set(",+~>".utf8)
    private static let breaks = Set("\n\r\u{0C}".utf8)

    /// - Parameter text: the sheets as they are written.
    init(_ text: [UInt8]) {
        // An escape may hide anything: then all counts as both.
        if text.contains(UInt8(ascii: "\\")) || !count(text[...]) {
            selectors = text.count { Self.marks.contains($0) || $0 == UInt8(ascii: "{") || $0 <= 0x20 }
            ancestorSelectors = selectors
            declarations = text.count { $0 == UInt8(ascii: ":") }
        }
    }

    /// Returns whether all blocks end.
    private mutating func count(_ text: ArraySlice<UInt8>) -> Bool {
        var (rest, depth) = (text, 0)
        // The last byte of a selector that is no blank, and whether blanks follow it.
        var (last, isSpaced) = (UInt8(ascii: "}"), false)
        while let byte = rest.first {
            if let length = Self.skipped(rest) {
                rest = rest.dropFirst(length)
                continue
            }
            rest = rest.dropFirst()
            if byte == UInt8(ascii: "}") {
                guard depth > 0 else { return false }
                depth -= 1
                (last, isSpaced) = (byte, false)
            } else if byte == UInt8(ascii: "{") {
                if depth == 0 { selectors += 1 }
                depth += 1
            } else if depth > 0 {
                if byte == UInt8(ascii: ":") { declarations += 1 }
            } else if byte <= 0x20 {
                isSpaced = true
            } else {
                let isCombined = Self.combinators.contains(byte) || Self.combinators.contains(last)
                if isSpaced, !isCombined, last != UInt8(ascii: "}") {
                    (selectors, ancestorSelectors) = (selectors + 1, ancestorSelectors + 1)
                }
                if byte == UInt8(ascii: ">") { ancestorSelectors += 1 }
                if Self.marks.contains(byte) { selectors += 1 }
                (last, isSpaced) = (byte, false)
            }
        }
        return depth == 0
    }

    /// Returns the length of a comment, a string or an address without quotes, whose brackets mean nothing; nil if none
    /// begins here.
    private static func skipped(_ text: ArraySlice<UInt8>) -> Int? {
        guard let first = text.first else { return nil }
        if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
            let end = text.dropFirst().firstIndex { $0 == first || breaks.contains($0) }
            return (end ?? text.endIndex - 1) + 1 - text.startIndex
        }
        if text.starts(with: "/*".utf8) {
            return (text.dropFirst(2).firstRange(of: Array("*/".utf8))?.upperBound ?? text.endIndex) - text.startIndex
        }
        guard first | 0x20 == UInt8(ascii: "u"), text.prefix(4).map({ $0 | 0x20 }) == Array("url(".utf8) else {
            return nil
        }
        let value = text.dropFirst(4).drop { $0 <= 0x20 }
        guard let quote = value.first, quote != UInt8(ascii: "\""), quote != UInt8(ascii: "'") else { return nil }
        return (value.firstIndex(of: UInt8(ascii: ")")) ?? text.endIndex - 1) + 1 - text.startIndex
    }
}
