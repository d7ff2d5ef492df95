import HalcyonCodecs
import HalcyonImage

/// The cost of a document by its elements, limited before librsvg draws it, because drawing cannot be stopped.
struct SVGCost {
    /// The number of elements and letters that are drawn.
    let drawn: Int
    /// The number of fonts of the letters; 0 without any.
    let fonts: Int

    /// The maximum number of layers of noise in one filter; beyond about eight, nothing changes in 8 bits.
    private static let maximumOctaves = 64
    /// The maximum number of values in a filter's matrix, each a multiplication for each pixel. Above 400, some
    /// versions of librsvg end the process.
    private static let maximumMatrixNumbers = 100
    /// The maximum number of drawn elements, each counted as often as it is used or painted with, and of letters in
    /// addition: 4 seconds of small shapes. Maps and charts reach some ten thousand.
    private static let maximumDrawn = 2_000_000
    /// The maximum number of levels that are drawn within each other: one for an element, and two more for each
    /// reference between them. librsvg takes at most 4.7 KB of stack for a level.
    private static let maximumLevels = 4096
    /// The maximum depth of `:not()` within `:not()`, 3.5 KB of stack each.
    private static let maximumNegations = 1024
    /// The maximum size of a font in pixels, which is FreeType's. Larger text is not drawn, Cairo loses memory for each
    /// of its sizes, and from 2^21 on librsvg 2.54 ends the process.
    private static let maximumFontSize = 65_535
    /// The maximum product of the selectors and the elements that they are matched against, some 15 ns for each
    /// match.
    private static let maximumMatches = 200_000_000
    /// The maximum number of elements that selectors step over: those before an element, for `~` and for rules about the
    /// place of an element among others, and those around it; and of bytes of classes, which are split for each selector.
    /// A step takes 4 ns.
    private static let maximumMatchSteps = 1_000_000_000
    /// The maximum product of declarations and elements, 10 ns each.
    private static let maximumDeclarations = 500_000_000
    /// The maximum number of fonts, 5 ms each.
    private static let maximumFonts = 2000

    /// Checks the cost of documents that are drawn together.
    ///
    /// - Returns: the cost of each.
    /// - Throws: `CodecError`: `.limitExceeded`, and `.damaged` for content that evades these checks.
    static func check(_ documents: [SVGDocument]) throws -> [SVGCost] {
        var (matches, declarations, steps) = (0, 0, 0)
        var costs: [SVGCost] = []
        for document in documents {
            let (style, sheet) = (SVGStyleText(document.styles), SVGSheet(document.styles))
            try checkStyle(document, style)
            matches += sheet.selectors * document.elements.count
            try require("selectors times elements", matches, atMost: maximumMatches)
            declarations += sheet.declarations * document.elements.count
            try require("declarations times elements", declarations, atMost: maximumDeclarations)
            steps += sheet.ancestorSelectors * document.elements.reduce(0) { $0 + $1.depth }
            steps += style.siblingSelectors * document.siblings + sheet.selectors * document.classBytes
            try require("elements that selectors step over", steps, atMost: maximumMatchSteps)
            let fonts = document.fonts(style)
            try require("fonts", costs.reduce(fonts) { $0 + $1.fonts }, atMost: maximumFonts)
            var reach = SVGReach(document, style: style)
            let drawn = try reach.drawn(maximumLevels: maximumLevels)
            try require("elements and letters to draw", costs.reduce(drawn) { $0 + $1.drawn }, atMost: maximumDrawn)
            try require("levels of elements", reach.levels(), atMost: maximumLevels)
            costs.append(SVGCost(drawn: drawn, fonts: fonts))
        }
        return costs
    }

    /// Checks the style sheets and the size of fonts of a document.
    private static func checkStyle(_ document: SVGDocument, _ style: SVGStyleText) throws {
        guard !style.loadsDocument else {
            throw CodecError.damaged(.svg, reason: "it embeds another document")
        }
        guard !style.asksForExtendedLanguage else {
            throw CodecError.damaged(
                .svg, reason: "a rule of it asks for an extended language, for which librsvg may end the process")
        }
        let parentheses = style.count(of: [UInt8(ascii: "(")])
        if parentheses > maximumNegations, style.bytes.firstRange(of: Array("not".utf8)) != nil {
            throw CodecError.limitExceeded("selectors", value: parentheses, limit: maximumNegations)
        }
        if document.letters > 0 {
            let size = document.elements.reduce(0) { max($0, document.fontSize(of: $1)) }
            try require("pixels of a font", Int(min(size, 1e15)), atMost: maximumFontSize)
        }
    }

    private static func require(
        _ what: String, _ value: Int, atMost limit: Int
    ) throws(CodecError) {
        guard value <= limit else { throw CodecError.limitExceeded(what, value: value, limit: limit) }
    }

    // MARK: Filters

    /// Checks the numbers in an attribute of a filter.
    ///
    /// - Throws: `CodecError`, also for numbers whose notation could hide them from the check.
    static func checkFilter(_ attribute: String, _ value: UnsafeBufferPointer<UInt8>) throws(CodecError) {
        guard value.allSatisfy({ isPartOfNumbers($0) }) else {
            throw .damaged(.svg, reason: "the numbers of a filter cannot be read")
        }
        let numbers = SVGNumbers(value).all.map { $0.number }
        switch attribute {
        case "numOctaves":
            let octaves = Int(min(numbers.max() ?? 0, 1e15))
            try require("octaves of noise", octaves, atMost: maximumOctaves)
        case "kernelMatrix": try require("numbers of a matrix", numbers.count, atMost: maximumMatrixNumbers)
        default:
            let side = Int(min(numbers.max() ?? 0, 1e15))
            try require("numbers of a matrix", side, atMost: maximumMatrixNumbers)
        }
    }

    private static func isPartOfNumbers(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || byte <= 0x20 || "+-.,eE".utf8.contains(byte)
    }
}
