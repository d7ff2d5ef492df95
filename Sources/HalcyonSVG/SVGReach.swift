import HalcyonCodecs
import HalcyonImage

/// The reach of references: each element may use ten others, which each use ten more.
struct SVGReach {
    private let document: SVGDocument
    /// The elements that style sheets refer to. The selectors of a rule are not evaluated: it may apply to any
    /// element.
    private let styled: Set<Int>
    private let styleHasMarkers: Bool
    private let inheritsAll: Bool
    /// The sums over all elements before each one: their cost without the targets of their references, and the
    /// points of their outlines.
    private let weights: [Int]
    private let points: [Int]
    private var steps = 0
    private static let maximumSteps = 5_000_000
    private static let beyond = 1 << 40
    /// The cost of a layer or a pattern, as a number of small shapes.
    private static let referenceWeight = 20
    /// The number of properties that may refer to paint: fill, stroke, clip, mask, filter and three markers.
    private static let maximumPaints = 8

    /// The cost of drawing an element.
    private struct Extent {
        /// The elements in it, each counted as often as it is used, and the points of their outlines. Their paint
        /// may be drawn for each.
        var shapes = 0
        var points = 0
        /// The elements and letters that are drawn, including everything that they are painted with.
        var drawn = 0
        var levels = 0
        var isOpen = true

        /// Returns how often the paint of all of it may be drawn.
        func places(for reference: SVGDocument.Reference) -> Int { shapes + (reference.isMarker ? points : 0) }
    }

    private var extents: [Int: Extent] = [:]
    private var gradientWeights: [Int: Int] = [:]
    private var hasRings = false

    init(_ document: SVGDocument, style: SVGStyleText) {
        self.document = document
        var styled = Set<Int>()
        if !style.bytes.isEmpty {
            let names = Set(style.names)
            for (name, elements) in document.identifiers
            where names.contains(name) || !name.allSatisfy(SVGStyleText.isPlain) {
                styled.formUnion(elements)
            }
        }
        self.styled = styled
        let style = style.lowercased
        styleHasMarkers = style.firstRange(of: Array("marker".utf8)) != nil
        inheritsAll = document.inheritsAll || style.firstRange(of: Array("inherit".utf8)) != nil
        // Letters count if they are drawn, or may be.
        weights = Self.sums(document.elements) { element in
            let letters = document.drawsLetters(element) ? Double(element.letterWeight) : 0
            return 1 + Int(letters * document.pointGrowth(of: element))
                + Int(document.dashes(of: element) / SVGDashes.dashesOfShape)
        }
        points = Self.sums(document.elements) { $0.points }
    }

    private static func sums(
        _ elements: [SVGDocument.Element], _ value: (SVGDocument.Element) -> Int
    ) -> [Int] {
        var sums = [0]
        sums.reserveCapacity(elements.count + 1)
        for element in elements { sums.append(min(sums[sums.count - 1] + value(element), beyond)) }
        return sums
    }

    /// Returns the number of elements and letters that are drawn, capped at a value beyond every limit.
    ///
    /// - Throws: `CodecError.limitExceeded`.
    mutating func drawn(maximumLevels: Int) throws -> Int {
        let whole = try extent(of: 0, maximumLevels: maximumLevels, level: 0)
        // A rule may apply to every element, but an element has only so many properties.
        var most = 0
        for element in styled {
            let cost =
                document.elements[element].kind == .gradient
                ? try gradientWeight(of: element)
                : try extent(of: element, maximumLevels: maximumLevels, level: 0).drawn + Self.referenceWeight
            most = max(most, cost)
        }
        let places = whole.shapes + (styleHasMarkers ? whole.points : 0)
        return min(whole.drawn + Self.product(most * Self.maximumPaints, places), Self.beyond)
    }

    /// Returns the maximum number of levels that are drawn within each other. In rings, librsvg enters each element
    /// once.
    func levels() -> Int {
        let references = styled.count + (hasRings ? document.references.count : 0)
        if hasRings { return (references + 1) * (document.depth + 3) }
        return styled.reduce(extents[0]?.levels ?? 0) { $0 + 3 + (extents[$1]?.levels ?? 0) }
    }

    private static func product(_ first: Int, _ second: Int) -> Int {
        let (product, overflow) = first.multipliedReportingOverflow(by: second)
        return overflow ? beyond : min(product, beyond)
    }

    private mutating func extent(of element: Int, maximumLevels: Int, level: Int) throws -> Extent {
        if let known = extents[element] {
            // In a ring, the element counts as nothing while it is being counted.
            if known.isOpen { hasRings = true }
            return known
        }
        guard level * 3 <= maximumLevels else {
            throw CodecError.limitExceeded("levels of elements", value: level * 3, limit: maximumLevels)
        }
        extents[element] = Extent()
        var whole = Extent(isOpen: false)
        try addUses(within: element, to: &whole, maximumLevels: maximumLevels, level: level)
        let painted = try addPaints(within: element, to: &whole, maximumLevels: maximumLevels, level: level)
        // Elements within inherit the paint of those around it; they are painted where they are drawn.
        let taken = try addPaints(around: element, to: &whole, maximumLevels: maximumLevels, level: level)
        whole.levels += max(painted, taken)
        extents[element] = whole
        return whole
    }

    private mutating func addUses(
        within element: Int, to whole: inout Extent, maximumLevels: Int, level: Int
    ) throws {
        let (start, end) = (document.elements[element].depth, document.elements[element].end)
        whole.shapes = end - element
        whole.points = points[end] - points[element]
        whole.drawn = weights[end] - weights[element]
        whole.levels = document.elements[element].height + 1
        for index in references(from: element, to: end) {
            try step()
            let reference = document.references[index]
            guard reference.isUse else { continue }
            let inner = try target(of: reference, maximumLevels: maximumLevels, level: level)
            whole.shapes = min(whole.shapes + inner.shapes, Self.beyond)
            whole.points = min(whole.points + inner.points, Self.beyond)
            whole.drawn = min(whole.drawn + inner.drawn, Self.beyond)
            let offset = document.elements[reference.holder].depth - start + 1
            whole.levels = max(whole.levels, offset + inner.levels)
        }
    }

    /// Adds the paint of the element and of the elements within it.
    ///
    /// - Returns: the levels of the paint.
    private mutating func addPaints(
        within element: Int, to whole: inout Extent, maximumLevels: Int, level: Int
    ) throws -> Int {
        var levels = 0
        for index in references(from: element, to: document.elements[element].end) {
            try step()
            let reference = document.references[index]
            guard !reference.isUse else { continue }
            let inner = try target(of: reference, maximumLevels: maximumLevels, level: level)
            let places =
                if !reference.isInherited, !inheritsAll {
                    1
                } else if reference.holder == element {
                    whole.places(for: reference)
                } else {
                    try places(of: reference, maximumLevels: maximumLevels, level: level)
                }
            whole.drawn = min(whole.drawn + Self.product(inner.drawn, places), Self.beyond)
            levels = max(levels, inner.levels)
        }
        return levels
    }

    private mutating func addPaints(
        around element: Int, to whole: inout Extent, maximumLevels: Int, level: Int
    ) throws -> Int {
        var levels = 0
        var parent = document.elements[element].parent
        while parent >= 0 {
            try step()
            for index in references(from: parent, to: parent + 1) {
                try step()
                let reference = document.references[index]
                guard !reference.isUse, reference.isInherited || inheritsAll else { continue }
                let inner = try target(of: reference, maximumLevels: maximumLevels, level: level)
                let places = whole.places(for: reference)
                whole.drawn = min(whole.drawn + Self.product(inner.drawn, places), Self.beyond)
                levels = max(levels, inner.levels)
            }
            parent = document.elements[parent].parent
        }
        return levels
    }

    /// Returns how often the paint of an element within the current one may be drawn.
    private mutating func places(
        of reference: SVGDocument.Reference, maximumLevels: Int, level: Int
    ) throws -> Int {
        let holder = reference.holder
        guard document.elements[holder].end == holder + 1, !document.elements[holder].isUse else {
            return try extent(of: holder, maximumLevels: maximumLevels, level: level).places(for: reference)
        }
        return 1 + (reference.isMarker ? document.elements[holder].points : 0)
    }

    /// Returns the maximum extent of the elements that a reference may mean.
    private mutating func target(
        of reference: SVGDocument.Reference, maximumLevels: Int, level: Int
    ) throws -> Extent {
        var most = Extent()
        for target in document.identifiers[reference.target] ?? [] {
            try step()
            guard document.elements[target].kind != .gradient else {
                most.drawn = max(most.drawn, try gradientWeight(of: target))
                continue
            }
            let part = try extent(of: target, maximumLevels: maximumLevels, level: level + 1)
            most.shapes = max(most.shapes, part.shapes)
            most.points = max(most.points, part.points)
            most.drawn = max(most.drawn, part.drawn + Self.referenceWeight)
            most.levels = max(most.levels, part.levels + 3)
        }
        return most
    }

    /// Returns the cost of painting with a gradient, as a number of small shapes: 90 ns for each of its stops, and 0.22 ns
    /// for each with each other one (measured with 2.54), those of the gradients that it takes its stops from included.
    private mutating func gradientWeight(of gradient: Int) throws -> Int {
        if let known = gradientWeights[gradient] { return known }
        var (stops, waiting, seen) = (0, [gradient], Set([gradient]))
        while let next = waiting.popLast() {
            try step()
            stops += document.elements[next].end - next
            for source in document.sources[next].flatMap({ document.identifiers[$0] }) ?? []
            where seen.insert(source).inserted {
                try step()
                waiting.append(source)
            }
        }
        let weight = stops / 22 + stops * stops / 9000
        gradientWeights[gradient] = weight
        return weight
    }

    /// Counts a reference that is followed or examined.
    ///
    /// - Throws: `CodecError.limitExceeded` for so many references that counting them takes too long.
    private mutating func step() throws {
        steps += 1
        guard steps < Self.maximumSteps else {
            throw CodecError.limitExceeded("elements in use", value: steps, limit: Self.maximumSteps)
        }
    }

    /// Returns the references of the elements from `element` up to, but not including, `end`.
    private func references(from element: Int, to end: Int) -> Range<Int> {
        firstReference(from: element)..<firstReference(from: end)
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
