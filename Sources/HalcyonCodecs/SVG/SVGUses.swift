#if SVG
    /// The elements that a document's `use`s come to: each may hold ten of another, which holds ten of a third.
    struct SVGUses {
        /// An element that has an identifier, by where it begins and ends.
        private struct Element {
            let start: Int
            var end: Int
        }

        private var elements: [[UInt8]: Element] = [:]
        /// In the order of the document.
        private var uses: [(position: Int, target: [UInt8])] = []
        private var costs: [[UInt8]: Int] = [:]
        private var steps = 0
        private static let mostSteps = 5_000_000

        init(_ reader: ByteReader) {
            var open: [[UInt8]?] = []
            var position = 0
            while let start = reader.firstIndex(of: UInt8(ascii: "<"), from: position) {
                guard let tag = SVGTag(reader, at: start) else { break }
                position = tag.end
                switch tag.kind {
                case .other: continue
                case .end:
                    if let id = open.popLast() ?? nil { elements[id]?.end = start }
                case .start, .empty:
                    let id = tag.attribute("id")
                    if let id, elements[id] == nil { elements[id] = Element(start: start, end: tag.end) }
                    if tag.isUse, let href = tag.attribute("href"), href.first == UInt8(ascii: "#") {
                        uses.append((start, Array(href.dropFirst())))
                    }
                    if tag.kind == .start { open.append(id) }
                }
            }
        }

        /// How often something is drawn because it is used, held at a figure beyond every limit.
        mutating func count() -> Int { cost(in: 0..<Int.max, depth: 0) }

        private mutating func cost(in range: Range<Int>, depth: Int) -> Int {
            // As deep, or in a ring, librsvg refuses by itself.
            guard depth < 64 else { return 0 }
            var sum = 0
            var index = firstUse(from: range.lowerBound)
            while index < uses.count, uses[index].position < range.upperBound {
                steps += 1
                // So many that counting them is itself too much.
                guard steps < Self.mostSteps else { return 1 << 40 }
                sum = min(sum + 1 + cost(of: uses[index].target, depth: depth + 1), 1 << 40)
                index += 1
            }
            return sum
        }

        private func firstUse(from position: Int) -> Int {
            var range = 0..<uses.count
            while !range.isEmpty {
                let middle = range.lowerBound + range.count / 2
                if uses[middle].position < position {
                    range = middle + 1..<range.upperBound
                } else {
                    range = range.lowerBound..<middle
                }
            }
            return range.lowerBound
        }

        private mutating func cost(of id: [UInt8], depth: Int) -> Int {
            if let known = costs[id] { return known }
            guard let element = elements[id] else { return 0 }
            // In a ring the element counts as nothing while it is counted.
            costs[id] = 0
            let cost = cost(in: element.start..<element.end, depth: depth)
            costs[id] = cost
            return cost
        }
    }
#endif
