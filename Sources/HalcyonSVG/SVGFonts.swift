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
            } else if name == "transform", let scale = SVGTransform.scale(of: value) {
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
}

/// The scale of a transform.
enum SVGTransform {
    /// Returns the square root of the factor by which areas grow, in ten thousandths; nil for one. Moving and turning need no
    /// other size of a font, and sizes that differ by less share most of the work.
    static func scale(of transform: some Collection<UInt8>) -> Int? {
        var area = 1.0
        for function in transform.split(separator: UInt8(ascii: ")")) {
            let numbers = signed(function)
            let name = String(decoding: function, as: UTF8.self).lowercased()
            if name.contains("matrix"), numbers.count > 3 {
                area *= numbers[0] * numbers[3] - numbers[1] * numbers[2]
            } else if name.contains("scale"), let first = numbers.first {
                area *= first * (numbers.count > 1 ? numbers[1] : first)
            }
        }
        let scale = abs(area).squareRoot() * 10_000
        let rounded = scale.isFinite ? Int(min(scale, 1e12).rounded()) : .max
        return rounded == 10_000 ? nil : rounded
    }

    /// Whether a transform does more than to move.
    static func turns(_ transform: some Collection<UInt8>) -> Bool {
        transform.split(separator: UInt8(ascii: ")")).contains { function in
            let name = function.drop { !(0x41...0x7A).contains($0) }.prefix { (0x41...0x7A).contains($0) }
            return !name.isEmpty && !name.elementsEqual("translate".utf8)
        }
    }

    private static func signed(_ function: some Collection<UInt8>) -> [Double] {
        function.drop { $0 != UInt8(ascii: "(") }.dropFirst()
            .split { $0 <= 0x20 || $0 == UInt8(ascii: ",") }
            .map { Double(String(decoding: $0, as: UTF8.self)) ?? 1 }
    }
}
