import HalcyonImage

extension FormatSniffer {
    /// The number of bytes of a text that are examined, large enough for a long comment before `<svg`.
    private static let textPrefix = 4096

    /// Returns the kind of a text, or nil if the data is not text.
    static func text(_ reader: ByteReader) -> SniffResult? {
        let start = reader.matches([0xEF, 0xBB, 0xBF], at: 0) ? 3 : 0
        let part = reader.part(at: start, length: textPrefix)
        guard isText(part) else { return nil }
        let text = String(decoding: part.bytes, as: UTF8.self).lowercased()
        guard let first = text.unicodeScalars.first(where: { !$0.properties.isWhitespace }) else {
            return .other("blank text")
        }
        switch first {
        case "<": return markup(text)
        case "{", "[": return .other("JSON")
        default: return .other("plain text")
        }
    }

    /// Returns whether the bytes have no control characters but the usual blanks and are well-formed UTF-8 up to the
    /// cut.
    private static func isText(_ reader: ByteReader) -> Bool {
        let controls = reader.bytes.contains { $0 < 0x20 && ![0x09, 0x0A, 0x0C, 0x0D].contains($0) || $0 == 0x7F }
        guard reader.count > 0, !controls else { return false }
        // A cut inside of a character leaves up to three bytes of it.
        return (0...min(3, reader.count - 1)).contains { rest in
            String(validating: reader.bytes.dropLast(rest), as: UTF8.self) != nil
        }
    }

    /// Returns the kind of markup by its root element. An SVG may have declarations and comments before it, and an HTML
    /// page may contain an SVG.
    private static func markup(_ text: String) -> SniffResult {
        var rest = text[...]
        while let open = rest.firstIndex(of: "<") {
            rest = rest[open...]
            if rest.hasPrefix("<!doctype html") { return .other("an HTML page") }
            if rest.hasPrefix("<!doctype svg") { return .image(.svg) }
            if rest.hasPrefix("<!--") {
                guard let end = rest.range(of: "-->") else { break }
                rest = rest[end.upperBound...]
            } else if rest.hasPrefix("<?") || rest.hasPrefix("<!") {
                rest = rest.dropFirst()
            } else {
                return element(rest.dropFirst())
            }
        }
        return .other("XML")
    }

    private static func element(_ text: Substring) -> SniffResult {
        let name = text.prefix { $0.isLetter || $0.isNumber || $0 == ":" || $0 == "_" }
        if name == "svg" || name.hasSuffix(":svg") { return .image(.svg) }
        let html: Set<Substring> = [
            "html", "head", "body", "title", "meta", "script", "div", "p", "h1", "style", "table", "center", "a",
        ]
        return .other(html.contains(name) ? "an HTML page" : "XML")
    }
}
