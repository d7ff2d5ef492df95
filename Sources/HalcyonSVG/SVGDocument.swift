import HalcyonImage

/// The elements of a drawing and their references, as read by `SVGReader`.
struct SVGDocument {
    enum Kind {
        /// An element that paints and contains nothing that is drawn but its stops.
        case gradient
        /// An element that holds a picture: `image`, `feImage`.
        case picture
        /// An element whose reference is never drawn with it: `a`, `script`.
        case link
        case other
    }

    struct Element {
        let kind: Kind
        /// The number of enclosing elements, and the parent among them, -1 for the root.
        let depth: Int
        let parent: Int
        /// The end of the elements within it.
        var end: Int
        /// The number of levels of elements within it.
        var height = 0
        /// The cost of drawing its letters, as a number of elements of the same cost.
        var letterWeight = 0
        /// The number of bytes of text directly in it.
        var letters = 0
        /// The maximum length of its outline in units of its dashes; measured only if there are dashes.
        var outline = 0.0
        /// The factor by which its font may be larger than one whose size is given in pixels; measured only if there are
        /// dashes or fonts that may be large.
        var fontGrowth = 1.0
        /// The factor by which outlines within it are longer in pixels than in those units.
        var scale = 1.0
        /// The font of its letters, by `SVGFonts`.
        var font = 0
        /// Whether it draws other elements in its place.
        var isUse = false
        /// Whether it is a `text` or lies within one.
        var isText = false
        /// The maximum number of points of an outline at which a marker may be drawn.
        var points = 0
    }

    struct Reference {
        /// The referring element.
        let holder: Int
        let target: [UInt8]
        /// Whether the target is drawn in the element's place, as with `use`; otherwise it paints or clips.
        let isUse: Bool
        /// Whether elements within the holder inherit the reference.
        let isInherited: Bool
        /// Whether the target may be drawn at each point of an outline.
        var isMarker = false
    }

    var elements: [Element] = []
    /// The elements by their identifiers, which may not be unique.
    var identifiers: [[UInt8]: [Int]] = [:]
    /// The names of the gradients that gradients take their stops from.
    var sources: [Int: [UInt8]] = [:]
    /// The references in the order of their holders.
    var references: [Reference] = []
    /// The `data:` addresses of pictures.
    var pictures: [[UInt8]] = []
    /// The text of all style sheets.
    var styles: [UInt8] = []
    /// The number of bytes of text in the longest `text`.
    var longestText = 0
    /// The outlines of the longest line in a `text`, by `SVGLine`.
    var longestLine = 0
    /// The number of bytes of text in all elements, and their outlines.
    var letters = 0
    var outlines = 0
    /// The number of elements that take their text from other elements, wherever these are.
    var textReferences = 0
    var dashes = SVGDashes()
    /// The factor by which an element's font may be larger where the element is used than where it is defined;
    /// measured only if there are dashes or fonts that may be large.
    private var usedFontGrowth = 1.0
    /// The number of bytes of classes beyond the first 32 of an element.
    var classBytes = 0
    /// Whether an attribute may make surfaces of the size of the drawing; rules may as well.
    var hasLayers = false
    /// Whether an element or an attribute is about filters; rules may be as well.
    var hasFilters = false
    /// Whether a filter has a `feMorphology`.
    var hasMorphology = false
    /// Whether a filter has a `kernelUnitLength`.
    var hasUnitLengths = false
    /// Whether a filter has a `feDropShadow`.
    var hasShadows = false
    /// Whether a property that is not inherited by default is declared to be inherited.
    var inheritsAll = false

    var depth: Int { (elements.first?.height ?? 0) + 1 }

    /// Returns the number of fonts that its letters may have.
    func fonts(_ style: SVGStyleText) -> Int {
        guard letters > 0 else { return 0 }
        let uses = references.filter(\.isUse)
        let root = elements.first?.font ?? 0
        // Elements have the fonts of the places where they are used.
        let places = Set(uses.map { elements[$0.holder].font }).subtracting([root]).count
        var isUsed = [Bool](repeating: false, count: elements.count)
        for target in Set(uses.flatMap { identifiers[$0.target] ?? [] }) {
            for index in target..<elements[target].end { isUsed[index] = true }
        }
        let texts = elements.indices.filter { elements[$0].letters > 0 && drawsLetters(elements[$0]) }
        let own = Set(texts.map { elements[$0].font }).count
        let used = Set(texts.filter { isUsed[$0] }.map { elements[$0].font }).count
        let rules = style.fontRules
        return own.adding(used, times: places).adding(1, times: rules.count) * (rules.areRelative ? depth : 1)
    }

    /// The sum of the numbers of elements beside each element and before it.
    var siblings: Int {
        var counts = [Int](repeating: 0, count: elements.count)
        return elements.reduce(0) { sum, element in
            guard element.parent >= 0 else { return sum }
            defer { counts[element.parent] += 1 }
            return sum + counts[element.parent]
        }
    }

    /// Returns whether the letters of an element are drawn, or may be.
    func drawsLetters(_ element: Element) -> Bool { element.isText || textReferences > 0 }

    /// Returns the maximum size in pixels of an element's font.
    func fontSize(of element: Element) -> Double { dashes.fontSize(growth: element.fontGrowth * usedFontGrowth) }

    /// Returns the factor by which Cairo needs more points for the outlines of an element's letters than for those of small
    /// ones.
    func pointGrowth(of element: Element) -> Double {
        max(1, min(fontSize(of: element), 1e12) / SVGLine.largestFont).squareRoot()
    }

    /// Returns the maximum number of dashes of an element.
    func dashes(of element: Element) -> Double {
        guard let shortest = dashes.shortest else { return 0 }
        let hasLetters = drawsLetters(element) && element.letters > 0
        let letters = hasLetters ? dashes.outline(letters: element.letters, growth: element.fontGrowth) : 0
        let length = (element.outline + letters * element.scale) * usedFontGrowth
        guard length != 0 else { return 0 }
        let count = length / shortest
        // Numbers too large for a `Double` must not count as nothing.
        return count.isNaN ? 1e12 : min(count, 1e12)
    }

    /// Returns the number of points of the round ends of all dashes.
    func dashPoints(natural: (width: Double, height: Double), size: PixelSize) -> Double {
        dashes.points(natural: natural, size: size) * elements.reduce(0) { $0 + dashes(of: $1) }
    }

    /// Measures the growth of fonts where elements are used: once, and again for each use that lies within a used
    /// element.
    mutating func measureUses() {
        let uses = references.filter { $0.isUse }
        let targets = Set(uses.flatMap { identifiers[$0.target] ?? [] })
        var isUsed: [Bool] = []
        for (index, element) in elements.enumerated() {
            isUsed.append(targets.contains(index) || element.parent >= 0 && isUsed[element.parent])
        }
        let first = uses.map { elements[$0.holder].fontGrowth }.max() ?? 1
        usedFontGrowth = uses.reduce(first) { isUsed[$1.holder] ? $0 * elements[$1.holder].fontGrowth : $0 }
    }

    /// Appends an element within `parent`.
    mutating func open(_ kind: Kind, parent: Int?) -> Int {
        let depth = parent.map { elements[$0].depth + 1 } ?? 0
        elements.append(Element(kind: kind, depth: depth, parent: parent ?? -1, end: elements.count + 1))
        return elements.count - 1
    }

    mutating func close(_ index: Int) {
        elements[index].end = elements.count
        let parent = elements[index].parent
        if parent >= 0 { elements[parent].height = max(elements[parent].height, elements[index].height + 1) }
    }
}

/// The text of a style sheet, or of a value in its syntax, examined for its references.
///
/// It is not parsed: the content of comments and strings counts as well, so that nothing can hide in either.
struct SVGStyleText {
    /// The text without escapes and line breaks, which addresses may contain anywhere. An escaped character that
    /// would end an address is replaced by `hidden`.
    let bytes: [UInt8]
    private static let hidden: UInt8 = 1

    init(_ text: some Collection<UInt8>) {
        guard text.contains(UInt8(ascii: "\\")) else {
            bytes = text.filter { !Self.isBreak($0) }
            return
        }
        var result: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte != UInt8(ascii: "\\") {
                if !Self.isBreak(byte) { result.append(byte) }
            } else {
                result += Self.unescaped(&rest)
            }
        }
        bytes = result
    }

    /// The text in lower case, as far as it is ASCII.
    var lowercased: [UInt8] { Self.lowercased(bytes) }

    static func lowercased(_ text: some Collection<UInt8>) -> [UInt8] { text.map(lowercased) }

    static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

    private static func isBreak(_ byte: UInt8) -> Bool {
        byte == 0x09 || byte == 0x0A || byte == 0x0C || byte == 0x0D
    }

    /// Returns the character of an escape behind a backslash: up to six hexadecimal digits and a blank, or any
    /// other character.
    private static func unescaped<Text: Collection<UInt8>>(_ rest: inout Text) -> [UInt8]
    where Text.SubSequence == Text {
        var (value, digits) = (UInt32(0), 0)
        while digits < 6, let byte = rest.first, let digit = Character(UnicodeScalar(byte)).hexDigitValue {
            value = value << 4 | UInt32(digit)
            digits += 1
            rest.removeFirst()
        }
        guard digits > 0 else {
            guard let byte = rest.popFirst(), !isBreak(byte) else { return [] }
            return ["\"", "'", "(", ")"].contains(UnicodeScalar(byte)) ? [hidden] : [byte]
        }
        if let blank = rest.first, blank == 0x20 || isBreak(blank) {
            rest.removeFirst()
            if blank == 0x0D, rest.first == 0x0A { rest.removeFirst() }
        }
        let scalar = UnicodeScalar(value) ?? "\u{FFFD}"
        if ["\"", "'", "(", ")"].contains(scalar) { return [hidden] }
        return scalar.value < 0x80 && isBreak(UInt8(scalar.value)) ? [] : Array(String(Character(scalar)).utf8)
    }

    /// The names behind number signs: fragments of addresses, and also colours.
    var names: [[UInt8]] {
        var names: [[UInt8]] = []
        var rest = bytes[...]
        while let sign = rest.firstIndex(of: UInt8(ascii: "#")) {
            let name = rest[(sign + 1)...].prefix(while: Self.isPlain)
            if !name.isEmpty { names.append(Array(name)) }
            rest = rest[name.endIndex...]
        }
        return names
    }

    /// The number of selectors that look at the elements before an element.
    var siblingSelectors: Int {
        let text = lowercased
        return count(of: [UInt8(ascii: "~")])
            + ["nth-", "of-type"].reduce(0) { $0 + text.ranges(of: Array($1.utf8)).count }
    }

    /// The number of declarations about fonts in rules, and whether sizes may be those of the elements around, times a factor.
    var fontRules: (count: Int, areRelative: Bool) {
        let text = lowercased
        var (count, areRelative) = (0, false)
        for found in text.ranges(of: Array("font".utf8)) {
            count += 1
            let value = text[found.upperBound...].prefix { !";}".utf8.contains($0) }
            areRelative =
                areRelative
                || ["em", "ex", "%", "ch", "larger", "smaller"].contains { value.firstRange(of: Array($0.utf8)) != nil }
        }
        return (count, areRelative)
    }

    /// Returns whether properties in a text may be named so.
    static func mayName(_ names: [String], in text: some Collection<UInt8>) -> Bool {
        // Any name may be written in escapes.
        guard !text.contains(UInt8(ascii: "\\")) else { return true }
        let text = lowercased(text)
        return names.contains { text.firstRange(of: Array($0.utf8)) != nil }
    }

    /// The properties that filter, and those that make surfaces of the size of the drawing.
    static let filters = ["filter"]
    static let layers = ["filter", "opacity", "mask", "blend", "isolation"]

    /// Returns whether a byte of an identifier does not end a name in `names`.
    static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x3A, 0x5F, 0x80...: true
        default: false
        }
    }

    /// Whether the text loads another document: by a `data:` address with a fragment, or by an import. librsvg
    /// ignores fonts in such addresses.
    var loadsDocument: Bool {
        let text = lowercased
        let ends: [UInt8: UInt8] = [0x22: 0x22, 0x27: 0x27, 0x28: 0x29]
        // The position of each end character, searched once for all addresses that extend to it.
        var next: [UInt8: Int] = [:]
        func index(of byte: UInt8, from start: Int) -> Int {
            if let known = next[byte], known >= start { return known }
            let found = text[start...].firstIndex(of: byte) ?? text.count
            next[byte] = found
            return found
        }
        var isImport: Bool?
        var start = 0
        while let found = text[start...].firstRange(of: Array("data:".utf8)) {
            start = found.upperBound
            // An address begins at its quote or parenthesis, behind blanks.
            let before = text[..<found.lowerBound].last { $0 > 0x20 }
            guard let end = before.map({ ends[$0] }) ?? 0 else { continue }
            if index(of: UInt8(ascii: "#"), from: start) < index(of: end, from: start) { return true }
            isImport = isImport ?? (text.firstRange(of: Array("@import".utf8)) != nil)
            if isImport == true { return true }
        }
        return false
    }

    /// Whether a rule may ask for a language with an extension, such as `:lang(en-u-co-phonebk)`: librsvg ends the process
    /// where it compares it with that of an element.
    ///
    /// An extension begins with a subtag of a single letter or digit.
    var asksForExtendedLanguage: Bool {
        let function = Array("lang(".utf8)
        var (isInside, hasComment) = (false, false)
        var subtag = 0
        for (index, byte) in bytes.enumerated() {
            if byte | 0x20 == function[0], bytes[index...].prefix(function.count).map({ $0 | 0x20 }) == function {
                isInside = true
            }
            guard isInside else { continue }
            if Self.isPlain(byte), byte != UInt8(ascii: "-") {
                subtag += 1
                continue
            }
            let letter = bytes[max(0, index - 1)] | 0x20
            // The languages `i-klingon` and the like have no extension.
            let isWhole = byte != UInt8(ascii: "-") || letter != UInt8(ascii: "i")
            if subtag == 1, isWhole || index > 1 && bytes[index - 2] == UInt8(ascii: "-") { return true }
            subtag = 0
            if byte == UInt8(ascii: "*"), bytes[index - 1] == UInt8(ascii: "/") { hasComment = true }
            // A comment may hold a parenthesis that ends nothing.
            if byte == UInt8(ascii: ")"), !hasComment { isInside = false }
        }
        return false
    }

    /// Returns the number of bytes of the text that are in a set.
    func count(of set: Set<UInt8>) -> Int { bytes.count { set.contains($0) } }
}
