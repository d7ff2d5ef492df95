/// One character of ``PixelFont``.
struct Glyph: Sendable {
    /// The distance that the pen advances, including the gap to the next letter.
    let width: Int

    /// The rows from top to bottom. Bit 0 is the leftmost pixel.
    let rows: [UInt32]
}

/// A small proportional bitmap font for captions.
///
/// A font of its own keeps the demo free of font files and of a text layout library, and gives the same pixels on
/// every machine. The letters are drawn in `PixelFont+Glyphs.swift`. They cover printable ASCII and the marks `·`,
/// `×`, `…` and `—`; capitals are nine pixels tall.
///
/// To draw a text, take ``glyph(for:)`` of each character, set the pixels of its rows, and move
/// right by its ``Glyph/width``.
enum PixelFont {
    /// The number of rows in each glyph: one for ascenders, nine for capitals, three for descenders.
    static let glyphHeight = 13

    /// The row a letter stands on, counted from the top of its glyph.
    static let baseline = 9

    /// The width of the space character, which has no ink to take it from.
    static let spaceWidth = 4

    /// The glyph of a character, or a box when the font does not have it.
    static func glyph(for character: Character) -> Glyph {
        glyphs[character] ?? missing
    }

    /// Returns the width of a single line of text in pixels.
    static func width(of text: String) -> Int {
        text.reduce(0) { $0 + glyph(for: $1).width }
    }

    /// The parsed art. A static property is computed once, on first use, and safely from any thread.
    private static let glyphs: [Character: Glyph] = parse(art)

    /// The glyph of a character that the font does not have. A box makes the gap visible, which an empty space would
    /// hide.
    private static let missing = Glyph(
        width: 8,
        rows: (0..<glyphHeight).map { row in
            switch row {
            case 1, baseline: 0b111111
            case 2..<baseline: 0b100001
            default: 0
            }
        }
    )

    /// Parses bands of letters from the text art.
    private static func parse(_ art: String) -> [Character: Glyph] {
        var glyphs: [Character: Glyph] = [
            " ": Glyph(width: spaceWidth, rows: Array(repeating: 0, count: glyphHeight))
        ]
        let lines = art.split(separator: "\n", omittingEmptySubsequences: false)
        for band in lines.split(whereSeparator: \.isEmpty) {
            let cells = band.map { $0.split(separator: " ") }
            guard let names = cells.first else { continue }
            let drawings = cells.dropFirst()
            // A mistake in the art should be found at the first run of a debug build, and should cost no more than
            // some letters in a release build.
            guard drawings.count == glyphHeight, drawings.allSatisfy({ $0.count == names.count }) else {
                assertionFailure("The band of \(names.joined(separator: " ")) is not regular")
                continue
            }
            for (column, name) in names.enumerated() {
                let drawing = drawings.map { $0[column] }
                guard let character = name.first, let top = drawing.first else { continue }
                assert(drawing.allSatisfy { $0.count == top.count }, "\(name) has lines of unequal length")
                glyphs[character] = Glyph(width: top.count, rows: drawing.map(bits))
            }
        }
        return glyphs
    }

    /// Returns one line of a drawing as bits.
    private static func bits(_ line: Substring) -> UInt32 {
        var bits: UInt32 = 0
        for (column, mark) in line.enumerated() where mark == "#" {
            bits |= 1 << UInt32(column)
        }
        return bits
    }
}
