#if SVG
    import HalcyonImage

    /// Bounds the cost of a document by its elements, before librsvg draws it, which cannot be stopped.
    enum SVGCost {
        /// Layers of noise in one filter; beyond eight or so nothing changes in 8 bits.
        private static let mostOctaves = 64
        /// Numbers of a filter's matrix, each a multiplication for each pixel. Above 400, some versions of librsvg end the
        /// process.
        private static let mostMatrixNumbers = 100
        /// Elements that are drawn, each as often as it is used or painted with, and letters besides: 4 seconds of small
        /// shapes. Maps and charts come to some ten thousand.
        private static let mostDrawn = 2_000_000
        /// Levels that are drawn within each other, one for an element, two more for each reference between them. librsvg
        /// takes at most 4.7 KB of stack for a level.
        private static let mostLevels = 4096
        /// `:not()` within `:not()`, 3.5 KB of stack each.
        private static let mostNegations = 1024
        /// Selectors times elements that they are held against, some 15 ns each.
        private static let mostMatches = 100_000_000

        /// - Throws: `CodecError`: `.limitExceeded`, and `.damaged` for what hides from these checks.
        static func check(_ document: SVGDocument) throws {
            let style = SVGStyleText(document.styles)
            guard !style.loadsDocument else {
                throw CodecError.damaged(.svg, reason: "there is another document inside of it")
            }
            let parentheses = style.count(of: [UInt8(ascii: "(")])
            if parentheses > mostNegations, style.bytes.firstRange(of: Array("not".utf8)) != nil {
                throw CodecError.limitExceeded("selectors", value: parentheses, limit: mostNegations)
            }
            let selectors = style.count(of: Set("{,+~".utf8))
            try require("selectors times elements", selectors * document.elements.count, atMost: mostMatches)
            var reach = SVGReach(document, style: style)
            try require("elements and letters to draw", try reach.drawn(mostLevels: mostLevels), atMost: mostDrawn)
            try require("levels of elements", reach.levels(), atMost: mostLevels)
        }

        private static func require(
            _ what: String, _ value: Int, atMost limit: Int
        ) throws(CodecError) {
            guard value <= limit else { throw CodecError.limitExceeded(what, value: value, limit: limit) }
        }

        // MARK: Filters

        /// - Throws: `CodecError`, also for numbers that are written in a way which could hide them.
        static func checkFilter(_ attribute: String, _ value: UnsafeBufferPointer<UInt8>) throws(CodecError) {
            guard value.allSatisfy({ isPartOfNumbers($0) }) else {
                throw .damaged(.svg, reason: "the numbers of a filter cannot be read")
            }
            let numbers = SVGNumbers(value).all.map { $0.number }
            switch attribute {
            case "numOctaves":
                let octaves = Int(min(numbers.max() ?? 0, 1e15))
                try require("octaves of noise", octaves, atMost: mostOctaves)
            case "kernelMatrix": try require("numbers of a matrix", numbers.count, atMost: mostMatrixNumbers)
            default:
                let side = Int(min(numbers.max() ?? 0, 1e15))
                try require("numbers of a matrix", side, atMost: mostMatrixNumbers)
            }
        }

        private static func isPartOfNumbers(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || byte <= 0x20 || "+-.,eE".utf8.contains(byte)
        }
    }
#endif
