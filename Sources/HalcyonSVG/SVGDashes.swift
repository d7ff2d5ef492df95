import HalcyonCodecs
import Foundation
import HalcyonImage

/// A bound on the number of dashes along outlines. Cairo creates each dash before it checks whether it is visible,
/// and needs 130 bytes for it: dashes of a hundredth on a line of a million would take gigabytes.
///
/// The dashes of an outline depend on style sheets and on inheritance, so the shortest dashes of the document are
/// assumed for all of its outlines. Lengths and dashes are in the same units, whatever they are scaled by.
struct SVGDashes {
    /// The shortest average length of a dash with its gap; nil if there are no dashes.
    var shortest: Double? {
        guard let dashes else { return nil }
        guard !hidesMeasures else { return 0 }
        return dashes.number + dashes.percent / 100 * sides.least
    }

    /// A length that is given in several units, or the bounds of several lengths.
    private struct Mixed {
        var number = 0.0
        var percent = 0.0
        var fonts = 0.0

        mutating func add(_ length: SVGNumbers.Length) {
            switch length.kind {
            case .percent: percent = max(percent, length.number)
            case .fonts: fonts = max(fonts, length.number)
            case .number: number = max(number, length.number)
            }
        }
    }

    private var dashes: Mixed?
    /// Whether a comment may hide the length of an outline.
    private var hidesMeasures = false
    /// The largest measures of shapes in styles.
    private var styled = Mixed()
    /// The bounds of the sides that percentages refer to.
    private var sides = (least: 100.0, most: 32_767.0)
    /// The largest font size that is given in pixels.
    private var fontSize = 16.0
    /// The largest factor by which a font is declared larger than that of the enclosing element.
    private(set) var fontGrowth = 1.0
    /// Whether fonts may be so large that their growth has to be measured for each element.
    var mayHaveLargeText: Bool { fontSize > 1000 || ownFontGrowth > 1 || fontGrowth > 1 }
    /// The largest growth that an element declares itself.
    private var ownFontGrowth = 1.0
    /// Whether lines may keep the length of their dashes when they are scaled, and the scale that styles apply.
    private var hasFixedLines = false
    private var styledScale = 1.0

    /// Whether a line may end in half a circle, and whether a comment may hide that, or how wide it is.
    private var hasRoundEnds = false
    private var hidesEnds = false
    /// The largest width that a line may have, in units, and the largest factor of a transform.
    private var widest = Mixed(number: 1)
    private var enlargement = 1.0
    /// The smallest side of a view box.
    private var smallestBox: Double?

    /// The bytes of memory for a dash, and the number of dashes that cost as much as a small shape (measured with
    /// Cairo 1.16).
    static let dashBytes = 130
    static let dashesOfShape = 5.0
    /// The bytes of memory for a point of a round end, and the time in seconds (measured with Cairo 1.16, ends that lie upon each other).
    static let pointBytes = 80
    static let secondsOfPoint = 5e-6

    private static let measures: Set<String> = ["r", "rx", "ry", "width", "height"]
    private static let properties = measures.union([
        "stroke-dasharray", "font", "font-size", "transform", "vector-effect", "stroke-linecap", "stroke-width",
    ])
    private static let shapes: Set<String> = ["rect", "circle", "ellipse", "line"]
    private static let shapeMeasures = measures.union(["x1", "y1", "x2", "y2"])

    /// Reads an attribute or a declaration of a style.
    mutating func read(_ property: String, _ value: some Collection<UInt8>, isStyle: Bool) {
        switch property {
        case "stroke-dasharray": addDashes(value)
        case "viewBox":
            for side in SVGNumbers(value).all.dropFirst(2) where side.number > 0 {
                addSide(side.number)
                smallestBox = min(smallestBox ?? .infinity, side.number)
            }
        case "font-size", "font":
            for size in SVGNumbers(value).all where property != "font" || !size.isWeight { addFont(size) }
            let text = String(decoding: value, as: UTF8.self).lowercased()
            if text.contains("larger") {
                fontGrowth = max(fontGrowth, 1.2)
            } else if text.contains("large") {
                fontSize = max(fontSize, 64)
            }
        case "vector-effect": hasFixedLines = true
        case "transform":
            let lengthening = SVGTransform(value).lengthening
            enlargement = max(enlargement, lengthening)
            if isStyle { styledScale *= lengthening }
        case "stroke-linecap": hasRoundEnds = hasRoundEnds || !["butt", "square"].contains(word(value))
        case "stroke-width":
            for width in SVGNumbers(value).all { widest.add(width) }
        case "width", "height":
            for side in SVGNumbers(value).all where side.kind == .number { addSide(side.number) }
            fallthrough
        default:
            guard isStyle, Self.measures.contains(property) else { return }
            for number in SVGNumbers(value).all { styled.add(number) }
        }
    }

    /// Reads the style sheets, after all elements.
    mutating func read(sheets: [UInt8]) {
        // The growth that an element declares itself counts for that element alone.
        (ownFontGrowth, fontGrowth) = (fontGrowth, 1)
        read(style: sheets)
    }

    /// Reads all declarations of a style sheet, or of a `style` attribute, at every colon that may belong to one.
    /// Comments are not distinguished from strings: if there is one within a relevant declaration, the dashes are
    /// assumed to be the shortest possible.
    mutating func read(style: [UInt8]) {
        let text = SVGStyleText.lowercased(style)
        var rest = text[...]
        while !rest.isEmpty {
            let declaration = rest.prefix { !"{};".utf8.contains($0) }
            let isRule = declaration.endIndex < text.endIndex && text[declaration.endIndex] == UInt8(ascii: "{")
            read(declaration: declaration, isRule: isRule)
            rest = rest[declaration.endIndex...].dropFirst()
        }
    }

    private mutating func read(declaration: ArraySlice<UInt8>, isRule: Bool) {
        // A comment before the name may have colons of its own; more than a few hide something.
        var most = 8
        for colon in declaration.indices where declaration[colon] == UInt8(ascii: ":") {
            var end = colon
            while end > declaration.startIndex, declaration[end - 1] <= 0x20 { end -= 1 }
            var start = end
            while start > declaration.startIndex, declaration[start - 1] != UInt8(ascii: ":"),
                SVGStyleText.isPlain(declaration[start - 1])
            {
                start -= 1
            }
            if start == end, !isRule, declaration[..<end].suffix(2) == Array("*/".utf8)[...] { hide() }
            let name = String(decoding: declaration[start..<end], as: UTF8.self)
            guard Self.properties.contains(name) else { continue }
            let value = declaration[(colon + 1)...]
            most -= 1
            guard most >= 0 else {
                hide()
                hidesMeasures = true
                return
            }
            if value.firstRange(of: Array("/*".utf8)) != nil {
                switch name {
                case "stroke-dasharray": hide()
                case "stroke-linecap", "stroke-width": hidesEnds = true
                default: hidesMeasures = true
                }
            }
            read(name, value, isStyle: true)
        }
    }

    private mutating func hide() {
        dashes = Mixed()
    }

    private mutating func addSide(_ side: Double) {
        guard side > 0 else { return }
        sides = (min(sides.least, side), max(sides.most, side))
    }

    private mutating func addFont(_ size: SVGNumbers.Length) {
        switch size.kind {
        case .percent: fontGrowth = max(fontGrowth, size.number / 100)
        case .fonts: fontGrowth = max(fontGrowth, size.number)
        case .number: fontSize = max(fontSize, size.number)
        }
    }

    private func word(_ value: some Collection<UInt8>) -> String {
        String(decoding: value, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private mutating func addDashes(_ value: some Collection<UInt8>) {
        let all = SVGNumbers(value).all
        guard all.contains(where: { $0.number > 0 }) else { return }
        // Every second length is a gap. Lengths in font sizes count as zero, because a font may be as small as it
        // likes.
        let share = 2 / Double(all.count)
        let number = all.reduce(0) { $0 + ($1.kind == .number ? $1.number * share : 0) }
        let percent = all.reduce(0) { $0 + ($1.kind == .percent ? $1.number * share : 0) }
        let shortest = dashes ?? Mixed(number: .infinity, percent: .infinity)
        dashes = Mixed(number: min(shortest.number, number), percent: min(shortest.percent, percent))
    }

    // MARK: Outlines

    /// Returns the factor by which an attribute makes an element's font larger than that of the enclosing element.
    static func fontGrowth(_ attribute: String, _ value: some Collection<UInt8>) -> Double {
        var own = SVGDashes()
        switch attribute {
        case "style": own.read(style: SVGStyleText(value).bytes)
        case "font", "font-size": own.read(attribute, value, isStyle: false)
        default: break
        }
        return own.fontGrowth
    }

    /// Returns the maximum length that an attribute adds to an element's outline.
    ///
    /// - Parameter growth: the factor by which the element's font has grown.
    func outline(
        of element: String, _ attribute: String, _ value: some Collection<UInt8>, growth: Double
    ) -> Double {
        switch attribute {
        case "d": return SVGOutline(path: value).length
        case "points": return SVGOutline(points: value).length
        default:
            guard Self.shapes.contains(element), Self.shapeMeasures.contains(attribute) else { return 0 }
            return SVGNumbers(value).all.first.map { length($0, growth: growth) * 2 * .pi } ?? 0
        }
    }

    /// Returns the maximum length that styles add to an element's outline.
    func styledOutline(of element: String, growth: Double) -> Double {
        guard Self.shapes.contains(element) else { return 0 }
        return (styled.number + styled.percent / 100 * sides.most + styled.fonts * fontSize * growth) * 4 * .pi
    }

    /// Returns the maximum length of the outlines of letters: that of a letter is about four times its height.
    func outline(letters: Int, growth: Double) -> Double { Double(letters) * fontSize * growth * 6 }

    /// Returns the maximum size of a font in pixels.
    func fontSize(growth: Double) -> Double { fontSize * growth }

    /// The factor by which outlines may be longer in pixels than in units, at the largest size of a drawing.
    var outerScale: Double {
        hasFixedLines ? styledScale * max(1, Double(Bitmap.maximumSide) / sides.least) : 1
    }

    /// Whether dashes may have ends that are half circles.
    var mayHaveRoundEnds: Bool { dashes != nil && (hasRoundEnds || hidesEnds) }

    /// Returns the number of points that both ends of a dash have, 0 if they are straight. Cairo draws half a circle with as many as
    /// keep it within a tenth of a pixel, 7 times the square root of its radius.
    ///
    /// - Parameter natural: the size of the document without a view box.
    func points(natural: (width: Double, height: Double), size: PixelSize) -> Double {
        guard mayHaveRoundEnds else { return 0 }
        let longest = Double(max(size.width, size.height))
        let scale =
            smallestBox.map { longest / $0 }
            ?? max(Double(size.width) / natural.width, Double(size.height) / natural.height)
        let width = widest.number + widest.percent / 100 * sides.most + widest.fonts * fontSize * max(1, fontGrowth)
        // Transforms may lie within each other.
        let radius = max(width / 2 * scale * enlargement, enlargement > 1 || hidesEnds ? longest : 0)
        // No number at all, as of infinite sides and widths, counts as the largest.
        return 14 * (radius < 1e9 ? radius : 1e9).squareRoot()
    }

    /// Returns the factor by which a `transform` makes outlines longer, if their dashes keep their length.
    func scale(of transform: some Collection<UInt8>) -> Double {
        hasFixedLines ? SVGTransform(transform).lengthening : 1
    }

    /// Returns the maximum of a length in units.
    private func length(_ length: SVGNumbers.Length, growth: Double) -> Double {
        switch length.kind {
        case .percent: length.number / 100 * sides.most
        case .fonts: length.number * fontSize * growth
        case .number: length.number
        }
    }
}

/// The numbers in a value, with their units.
struct SVGNumbers {
    /// A length without its sign, in pixels, in hundredths of a side, or in font sizes.
    struct Length {
        enum Kind { case number, percent, fonts }

        let number: Double
        let kind: Kind
        /// Whether the number may be the weight of a font.
        let isWeight: Bool

        init(_ number: Double, unit: String) {
            kind = unit == "%" ? .percent : ["em", "rem", "ex", "ch"].contains(unit) ? .fonts : .number
            let pixels: [String: Double] = ["in": 96, "cm": 96 / 2.54, "mm": 96 / 25.4, "pc": 16, "pt": 96 / 72]
            self.number = abs(number) * (pixels[unit] ?? 1)
            isWeight = unit.isEmpty && number.truncatingRemainder(dividingBy: 100) == 0 && number <= 1000
        }
    }

    private(set) var all: [Length] = []

    /// Reads the numbers. Each sign and each second decimal point begins another number, as in the data of a path.
    init(_ value: some Collection<UInt8>) {
        var rest = SVGScanner(value)
        while let number = rest.number() {
            all.append(Length(number, unit: rest.word()))
        }
    }
}

/// A scanner that reads numbers and words in turn.
struct SVGScanner {
    private let bytes: [UInt8]
    private var position = 0

    init(_ value: some Collection<UInt8>) { bytes = Array(value) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Reads the next letter, behind blanks and commas.
    mutating func letter() -> UInt8? {
        while let byte = next, byte <= 0x20 || byte == UInt8(ascii: ",") { position += 1 }
        guard let byte = next, (0x41...0x5A).contains(byte & 0xDF) else { return nil }
        position += 1
        return byte
    }

    /// Reads the next digit 0 or 1 alone, as a flag is written, and skips everything before it.
    mutating func flag() -> Double? {
        while let byte = next, !(0x30...0x31).contains(byte) { position += 1 }
        defer { position += 1 }
        return next.map { Double($0 - 0x30) }
    }

    /// Reads the letters and percent signs at the current position.
    mutating func word() -> String {
        let start = position
        while let byte = next, byte == UInt8(ascii: "%") || (0x41...0x5A).contains(byte & 0xDF) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self).lowercased()
    }

    /// Reads the next number, whatever precedes it; nil at the end. With `stopsAtLetters`, for the data of a path,
    /// nil before a letter, too.
    mutating func number(stopsAtLetters: Bool = false) -> Double? {
        while let byte = next, !Self.begins(byte) {
            if stopsAtLetters, (0x41...0x5A).contains(byte & 0xDF) { return nil }
            position += 1
        }
        let start = position
        if let byte = next, byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") { position += 1 }
        digits()
        if next == UInt8(ascii: ".") {
            position += 1
            digits()
        }
        exponent()
        guard start < position else { return nil }
        // A sign or a decimal point alone counts as 0.
        return Double(String(decoding: bytes[start..<position], as: UTF8.self)) ?? 0
    }

    private mutating func digits() {
        while let byte = next, (0x30...0x39).contains(byte) { position += 1 }
    }

    /// Skips an exponent. The `e` of the unit `em` does not begin one.
    private mutating func exponent() {
        guard let byte = next, byte | 0x20 == UInt8(ascii: "e") else { return }
        var end = position + 1
        if end < bytes.count, [0x2B, 0x2D].contains(bytes[end]) { end += 1 }
        guard end < bytes.count, (0x30...0x39).contains(bytes[end]) else { return }
        position = end
        digits()
    }

    private static func begins(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || "+-.".utf8.contains(byte)
    }
}
