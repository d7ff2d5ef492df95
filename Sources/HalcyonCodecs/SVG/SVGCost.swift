#if SVG
    import HalcyonImage

    /// Bounds the cost of a document by its elements, before librsvg draws it, which cannot be stopped.
    enum SVGCost {
        /// Layers of noise in one filter; beyond eight or so nothing changes in 8 bits.
        private static let mostOctaves = 64
        /// Numbers of a filter's matrix, each a multiplication for each pixel. Above 400, some versions of librsvg end the
        /// process.
        private static let mostMatrixNumbers = 100
        /// Elements that are drawn because they are used. Maps and charts come to a few thousand.
        private static let mostUses = 100_000
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
            try require("elements in use", try reach.uses(mostLevels: mostLevels), atMost: mostUses)
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
            let text = String(decoding: value, as: UTF8.self)
            guard text.utf8.allSatisfy({ isPartOfNumbers($0) }) else {
                throw .damaged(.svg, reason: "the numbers of a filter cannot be read")
            }
            let numbers = numbers(in: text)
            switch attribute {
            case "numOctaves":
                let octaves = Int(min(max(numbers.max() ?? 0, 0), 1e15))
                try require("octaves of noise", octaves, atMost: mostOctaves)
            case "kernelMatrix": try require("numbers of a matrix", numbers.count, atMost: mostMatrixNumbers)
            default:
                let side = Int(min(max(numbers.max() ?? 0, 0), 1e15))
                try require("numbers of a matrix", side, atMost: mostMatrixNumbers)
            }
        }

        private static func isPartOfNumbers(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || byte <= 0x20 || "+-.,eE".utf8.contains(byte)
        }

        /// Each sign and each second point begins another, as in CSS.
        private static func numbers(in text: String) -> [Double] {
            var (numbers, current) = ([Double](), "")
            func end() {
                if let number = Double(current) { numbers.append(number) }
                current = ""
            }
            for character in text.unicodeScalars {
                let isInExponent = current.last == "e"
                switch character {
                case "0"..."9": current.unicodeScalars.append(character)
                case "e", "E": current += "e"
                case "+", "-":
                    if !isInExponent { end() }
                    current.unicodeScalars.append(character)
                case ".":
                    if current.contains(".") || current.contains("e") { end() }
                    current += "."
                default: end()
                }
            }
            end()
            return numbers
        }
    }

    /// How far references lead: each element may use ten others, which use ten of a third.
    struct SVGReach {
        private let document: SVGDocument
        /// Elements that style sheets refer to. Which elements a rule is for is not looked at: any may be meant.
        private let styled: Set<Int>
        private let inheritsAll: Bool
        private var steps = 0
        private static let mostSteps = 5_000_000
        private static let beyond = 1 << 40

        private struct Extent {
            var uses = 0
            var levels = 0
            var isOpen = true
        }

        private var extents: [Int: Extent] = [:]
        private var hasRings = false

        init(_ document: SVGDocument, style: SVGStyleText) {
            self.document = document
            var styled = Set<Int>()
            if !style.bytes.isEmpty {
                let names = Set(style.names)
                for (name, elements) in document.identifiers
                where names.contains(name) || !name.allSatisfy(SVGStyleText.isPlain) {
                    styled.formUnion(elements.filter { document.elements[$0].kind != .gradient })
                }
            }
            self.styled = styled
            inheritsAll = document.inheritsAll || style.bytes.firstRange(of: Array("inherit".utf8)) != nil
        }

        /// How often something is drawn because it is used, held at a figure beyond every limit.
        ///
        /// - Throws: `CodecError.limitExceeded`.
        mutating func uses(mostLevels: Int) throws -> Int {
            let uses = try extent(of: 0, mostLevels: mostLevels, level: 0).uses
            for element in styled { _ = try extent(of: element, mostLevels: mostLevels, level: 0) }
            return uses
        }

        /// The most levels that are drawn within each other. In rings librsvg enters each element once.
        func levels() -> Int {
            let references = styled.count + (hasRings ? document.references.count : 0)
            if hasRings { return (references + 1) * (document.depth + 3) }
            return styled.reduce(extents[0]?.levels ?? 0) { $0 + 3 + (extents[$1]?.levels ?? 0) }
        }

        private mutating func extent(of element: Int, mostLevels: Int, level: Int) throws -> Extent {
            if let known = extents[element] {
                // In a ring the element counts as nothing while it is counted.
                if known.isOpen { hasRings = true }
                return known
            }
            guard level * 3 <= mostLevels else {
                throw CodecError.limitExceeded("levels of elements", value: level * 3, limit: mostLevels)
            }
            extents[element] = Extent()
            let (start, end) = (document.elements[element].depth, document.elements[element].end)
            var (uses, used, painted) = (0, document.elements[element].height + 1, 0)
            func add(_ reference: SVGDocument.Reference, isWithin: Bool) throws {
                var inner = Extent()
                for target in document.identifiers[reference.target] ?? [] {
                    try step()
                    guard document.elements[target].kind != .gradient else { continue }
                    let part = try extent(of: target, mostLevels: mostLevels, level: level + 1)
                    inner.uses = max(inner.uses, part.uses + (reference.isUse ? 1 : 0))
                    inner.levels = max(inner.levels, part.levels + 3)
                }
                if isWithin { uses = min(uses + inner.uses, Self.beyond) }
                let offset = document.elements[reference.holder].depth - start + 1
                if reference.isUse { used = max(used, offset + inner.levels) }
                if !reference.isUse { painted = max(painted, inner.levels) }
            }
            var index = firstReference(from: element)
            while index < document.references.count, document.references[index].holder < end {
                try step()
                try add(document.references[index], isWithin: true)
                index += 1
            }
            // Elements within take over what those around it have; they are painted where they are drawn.
            var parent = document.elements[element].parent
            while parent >= 0 {
                try step()
                var index = firstReference(from: parent)
                while index < document.references.count, document.references[index].holder == parent {
                    try step()
                    let reference = document.references[index]
                    if !reference.isUse, reference.isInherited || inheritsAll {
                        try add(reference, isWithin: false)
                    }
                    index += 1
                }
                parent = document.elements[parent].parent
            }
            let whole = Extent(uses: uses, levels: used + painted, isOpen: false)
            extents[element] = whole
            return whole
        }

        /// Counts a reference that is followed, or only looked at.
        ///
        /// - Throws: `CodecError.limitExceeded` for so many that counting them is itself too much.
        private mutating func step() throws {
            steps += 1
            guard steps < Self.mostSteps else {
                throw CodecError.limitExceeded("elements in use", value: steps, limit: Self.mostSteps)
            }
        }

        private func firstReference(from element: Int) -> Int {
            var range = 0..<document.references.count
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                if document.references[middle].holder < element {
                    range = middle + 1..<range.upperBound
                } else {
                    range = range.lowerBound..<middle
                }
            }
            return range.lowerBound
        }
    }
#endif
