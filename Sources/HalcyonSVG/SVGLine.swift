/// The text between two tags, which librsvg lays out and draws as one line, with the cost of its outlines.
///
/// The outlines of a line are one path, whose size Cairo computes from all of its edges (librsvg 2.54 asks for it whether the line
/// is visible or not): in a time that grows with the square of their number.
struct SVGLine {
    private(set) var bytes = 0
    /// The length of the outlines, as a number of letters such as `@`, the longest of ASCII.
    private(set) var outlines = 0
    /// The first byte of a character whose second byte tells whether it is a symbol.
    private var lead: UInt8 = 0

    /// The bytes of memory for the outline of a letter, while it is copied, and the size of a font in pixels up to which it has no
    /// more (measured with librsvg 2.54).
    static let outlineBytes = 18 << 10
    static let largestFont = 64.0
    /// The outlines of a symbol, as a number of letters. DejaVu has snowmen and keyboards of 500 edges, other fonts have icons.
    private static let symbolWeight = 10
    /// The maximum number of bytes that count, of which the square is an `Int`.
    private static let maximumBytes = 1 << 24

    mutating func add(_ text: UnsafeBufferPointer<UInt8>) {
        bytes += text.count
        for byte in text {
            outlines += 1
            // The other bytes of a symbol count by themselves.
            if lead != 0, Self.isSymbol(lead, byte) { outlines += Self.symbolWeight - (lead < 0xF0 ? 3 : 4) }
            lead = byte >= 0xE2 ? byte : 0
        }
    }

    /// Returns whether a character that begins with these two bytes of UTF-8 may have a long outline: one of U+2070 to U+2BFF without
    /// the lines and blocks from U+2500 on, of a private area, an Arabic word, or one beyond U+FFFF without the Chinese.
    private static func isSymbol(_ first: UInt8, _ second: UInt8) -> Bool {
        switch first {
        case 0xE2: (0x82...0xAF).contains(second) && !(0x94...0x96).contains(second)
        case 0xEE: true
        case 0xEF: second <= 0xA3 || second == 0xB7
        case 0xF0: second < 0xA0
        default: first > 0xF0
        }
    }

    /// The cost of drawing the line, as a number of small shapes: 5 for each letter, and a 25th for each letter with each other one
    /// (measured with librsvg 2.54).
    var shapes: Int {
        let outlines = min(outlines, Self.maximumBytes)
        return outlines * 5 + outlines * outlines / 25
    }
}
