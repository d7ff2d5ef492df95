import Foundation
import HalcyonImage

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

    // MARK: The time that they take

    /// The time in seconds that a font takes in a small copy, 5 ms and some for chance.
    static let secondsInCopy = 8e-3
    private static let usualSeconds = 5e-3

    /// Returns the factor by which fonts take longer at this moment than on the machine that all figures are from; 1 if they
    /// are faster. Costs the time of 30 fonts.
    static func slowness() -> Double {
        // The first one also finds the fonts of the system. Threads that disturb do so from time to time: the slowest counts.
        guard (try? seconds(toDraw: [10])) != nil,
            let seconds = (0..<3).compactMap({ _ in try? seconds(toDraw: (1...10).map { 10 + Double($0) / 7 }) }).max()
        else { return 1 }
        return max(1, seconds / 10 / usualSeconds)
    }

    private static func seconds(toDraw sizes: [Double]) throws -> Double {
        let words = sizes.map { "<text y='9' font-size='\($0)'>a</text>" }.joined()
        let handle = try SVGHandle(Data("<svg xmlns='http://www.w3.org/2000/svg'>\(words)</svg>".utf8))
        return try SVGTime.measured(false) { _ = try handle.bitmap(of: PixelSize(9, 9), context: .uncancellable) }
    }
}
