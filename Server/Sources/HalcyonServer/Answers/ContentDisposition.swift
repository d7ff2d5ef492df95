import Foundation

/// The `Content-Disposition` field of an answer (RFC 6266, RFC 8187), with a name that is safe as a file's.
struct ContentDisposition: Hashable, Sendable {
    /// Whether the browser saves the answer in the place of showing it.
    var isAttachment: Bool
    /// The name that was asked for, or that of the source; any text.
    var name: String

    /// The field's value.
    ///
    /// - Parameter fileExtension: the extension of the answer's format, which replaces one that the name has.
    func value(fileExtension: String) -> String {
        let safe = Self.safe(name, fileExtension: fileExtension)
        var value = "\(isAttachment ? "attachment" : "inline"); filename=\"\(Self.ascii(safe))\""
        // The second form is only for names that the first cannot hold.
        if !safe.utf8.allSatisfy({ $0 < 0x80 }) { value += "; filename*=UTF-8''\(Self.encoded(safe))" }
        return value
    }

    /// Returns a name without folders, control characters, marks that systems give a meaning to, and directions of text that
    /// show another extension than the name has; `image` if nothing is left. It has at most 100 characters before its extension.
    static func safe(_ name: String, fileExtension: String) -> String {
        // A mark behind a slash makes one character of both.
        let last =
            name.unicodeScalars.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? Substring.UnicodeScalarView()
        let kept = last.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
            default: !"\"<>:|?*;%".unicodeScalars.contains(scalar)
            }
        }
        let isAtStart: (Character) -> Bool = { $0 == "." || $0.isWhitespace }
        var stem = String(String.UnicodeScalarView(kept)).drop(while: isAtStart)
        if let dot = stem.lastIndex(of: "."), stem[dot...].count <= 6 { stem = stem[..<dot] }
        stem = Substring(stem.unicodeScalars.prefix(100))
        while let end = stem.last, end == "." || end.isWhitespace { stem.removeLast() }
        return "\(stem.isEmpty ? "image" : stem).\(fileExtension)"
    }

    private static func ascii(_ name: String) -> String {
        String(name.map { $0.isASCII ? $0 : "_" })
    }

    /// The `attr-char`s of RFC 8187 stay, all other bytes are percent-encoded.
    private static func encoded(_ name: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return name.utf8.reduce(into: "") { text, byte in
            let character = Character(UnicodeScalar(byte))
            if byte < 0x80, character.isLetter || character.isNumber || "!#$&+-.^_`|~".contains(character) {
                text.append(character)
            } else {
                text += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
    }
}
