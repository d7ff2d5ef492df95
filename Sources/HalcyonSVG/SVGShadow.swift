/// A `feDropShadow` as the primitives that it stands for: librsvg 2.54 knows it by nothing else, and leaves out what
/// has a filter with it.
struct SVGShadow {
    static let name = "feDropShadow"
    static let primitives: Set<String> = [
        "feBlend", "feColorMatrix", "feComponentTransfer", "feComposite", "feConvolveMatrix", "feDiffuseLighting",
        "feDisplacementMap", "feFlood", "feGaussianBlur", "feImage", "feMerge", "feMorphology", "feOffset",
        "feSpecularLighting", "feTile", "feTurbulence",
    ]

    /// A tag, and whether its element is empty.
    typealias Part = (tag: SVGTag, isClosed: Bool)

    /// The declared input.
    let source: [UInt8]?
    /// The name of the result of a part.
    private let name: String
    /// Attributes by which rules and inheritance reach all parts.
    private let common: [SVGTag.Attribute]

    init(_ tag: SVGTag, name: String) {
        self.name = name
        source = tag["in"]
        let own: Set<String> = ["in", "stdDeviation", "dx", "dy", "result", "id", "x", "y", "width", "height"]
        common = tag.attributes.filter { !own.contains($0.name) }
    }

    /// Returns the parts. The `feMerge`, which draws the source over its shadow, is left open behind its inputs.
    ///
    /// - Parameter source: the name of the input; nil for the first primitive of a filter, which is about the
    ///   element itself.
    func parts(of tag: SVGTag, source: [UInt8]?) -> [Part] {
        func attribute(_ name: String, default value: String? = nil) -> [SVGTag.Attribute] {
            guard let value = tag[name] ?? value.map({ Array($0.utf8) }) else { return [] }
            return [SVGTag.Attribute(name, value)]
        }
        func part(_ name: String, _ attributes: [SVGTag.Attribute]) -> Part {
            (tag.named(name, common + attributes), true)
        }
        let input = SVGTag.Attribute("in", source ?? Array("SourceGraphic".utf8))
        let offset = attribute("dx", default: "2") + attribute("dy", default: "2")
        let region = ["x", "y", "width", "height", "result"].flatMap { attribute($0) }
        return [
            part("feGaussianBlur", [input] + attribute("stdDeviation", default: "2")),
            part("feOffset", offset + [SVGTag.Attribute("result", name)]),
            part("feFlood", attribute("id")),
            part("feComposite", [SVGTag.Attribute("in2", name), SVGTag.Attribute("operator", "in")]),
            (tag.named("feMerge", common + region), false),
            (tag.named("feMergeNode", []), true), (tag.named("feMergeNode", [input]), true),
        ]
    }

    /// Returns whether a rule may be about the element by its name or place, or about one of its parts.
    static func isStyled(by sheet: SVGStyleText) -> Bool {
        let text = sheet.lowercased
        let words = [
            "fedropshadow", "fegaussianblur", "feoffset", "feflood", "fecomposite", "femerge", ":nth-", ":first-",
            ":last-", ":only-",
        ]
        return words.contains { text.firstRange(of: Array($0.utf8)) != nil }
    }
}
