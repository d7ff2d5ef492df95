import Foundation

/// The different fonts that the letters of a document may have. librsvg prepares each anew, which takes up to 5 ms: each
/// size, also by a scale, each family, weight and language.
struct SVGFonts {
    /// Attributes that change the font of an element, or its size in pixels.
    private static let attributes: Set<String> = [
        "font", "font-size", "font-family", "font-weight", "font-style", "font-stretch", "font-variant", "lang",
        "viewBox", "markerWidth", "markerHeight",
    ]

    /// Returns a value that is equal for elements whose letters have the same font.
    ///
    /// - Parameter outer: that of the enclosing element.
    static func font(
        in outer: Int, _ attributes: [(name: String, value: UnsafeBufferPointer<UInt8>)]
    ) -> Int {
        var font = outer
        let isViewport = attributes.contains { $0.name == "viewBox" }
        for (name, value) in attributes {
            if Self.attributes.contains(name) || isViewport && ["width", "height"].contains(name) {
                font = combined(font, name, Array(value))
            } else if name == "style" {
                for declaration in fonts(in: SVGStyleText(value)) { font = combined(font, name, declaration) }
            } else if name == "transform", let scale = SVGTransform(value).fontScale {
                font = combined(font, name, Array("\(scale)".utf8))
            }
        }
        return font
    }

    private static func combined(_ font: Int, _ name: String, _ value: [UInt8]) -> Int {
        var hasher = Hasher()
        hasher.combine(font)
        hasher.combine(name)
        hasher.combine(value)
        return hasher.finalize()
    }

    /// Returns the declarations about fonts and transforms in a `style` attribute.
    private static func fonts(in style: SVGStyleText) -> [[UInt8]] {
        let names = [Array("font".utf8), Array("transform".utf8)]
        return style.bytes.split(separator: UInt8(ascii: ";")).map(Array.init)
            .filter { declaration in names.contains { declaration.firstRange(of: $0) != nil } }
    }

    /// The time in seconds that a font takes in a small copy, 5 ms and some for chance.
    static let secondsInCopy = 8e-3
}
