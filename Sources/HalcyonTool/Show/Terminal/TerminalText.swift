import Foundation

/// Text of others on its way to a terminal: names of files, answers of servers.
enum TerminalText {
    /// Returns the text on one line, without anything that a terminal obeys: line breaks become spaces; control characters, and
    /// those that turn the direction of the text around, become `�`.
    static func clean(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var followsReturn = false
        for scalar in text.unicodeScalars {
            defer { followsReturn = scalar == "\r" }
            switch scalar.value {
            case 0x0A where followsReturn: continue
            case 0x0A...0x0D, 0x85, 0x2028, 0x2029: result.append(" ")
            case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069:
                result.append("\u{FFFD}")
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    /// Returns the columns that a clean text takes.
    static func width(_ text: String) -> Int { text.reduce(0) { $0 + width($1) } }

    /// Returns the text cut to a number of columns, its end replaced by an ellipsis if anything is missing. A character that is
    /// a heap of accents becomes `�`, so that the bytes of a line are bounded as well.
    static func cut(_ text: String, to columns: Int) -> String {
        let text = String(text.map { $0.utf8.count > 64 ? "\u{FFFD}" : $0 })
        guard width(text) > columns else { return text }
        guard columns > 0 else { return "" }
        var (result, used) = ("", 0)
        for character in text {
            let next = width(character)
            guard used + next < columns else { break }
            result.append(character)
            used += next
        }
        return result + "…"
    }

    /// Returns the columns of a character: 2 for East Asian ones and emoji, 0 for lone marks.
    private static func width(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        if first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}
