import Foundation
import Halcyon

/// A terminal as the tests need it: cells of text in two colours, a cursor, and string sequences with their places.
///
/// It understands the sequences that the tool may write; all others, and control characters, are noted as unexpected.
struct ScreenModel {
    struct Cell: Equatable {
        var character: Character = " "
        /// The colour of the text, and that of the cell, as `0xRRGGBB`; nil for the terminal's own.
        var ink: UInt32?
        var paper: UInt32?
    }

    /// A string sequence: pictures come as such.
    struct Text: Equatable {
        /// The character after ESC.
        let introducer: Character
        let content: [UInt8]
        let row: Int
        let column: Int
        /// Whether it came through tmux.
        let wasWrapped: Bool
    }

    private enum State {
        case text
        case escape
        case control([UInt8])
        case string(Character, [UInt8], escaped: Bool)
    }

    let columns: Int
    let rows: Int
    /// All lines since the start, those that were scrolled away included.
    private(set) var lines: [[Cell]]
    /// The first line that is visible.
    private(set) var top = 0
    private(set) var row = 0
    private(set) var column = 0
    private(set) var texts: [Text] = []
    private(set) var unexpected: [String] = []
    private(set) var isCursorHidden = false
    private var saved = (row: 0, column: 0)
    private var colors: (ink: UInt32?, paper: UInt32?) = (nil, nil)
    private var state = State.text
    private var scalar: [UInt8] = []
    private var isInTmux = false

    init(columns: Int = 80, rows: Int = 24) {
        self.columns = columns
        self.rows = rows
        lines = Array(repeating: Array(repeating: Cell(), count: columns), count: rows)
    }

    init(_ bytes: some Sequence<UInt8>, columns: Int = 80, rows: Int = 24) {
        self.init(columns: columns, rows: rows)
        feed(bytes)
    }

    /// A line as text, without the spaces at its end.
    func line(_ row: Int) -> String {
        let text = String(lines[row].map(\.character))
        return String(text.reversed().drop { $0 == " " }.reversed())
    }

    /// The colour of a pixel of half blocks; nil for the terminal's background.
    func pixel(x: Int, y: Int) -> UInt32? {
        let cell = lines[y / 2][x]
        switch cell.character {
        case "▀": return y % 2 == 0 ? cell.ink : cell.paper
        case "▄": return y % 2 == 0 ? cell.paper : cell.ink
        default: return cell.paper
        }
    }

    mutating func feed(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { take(byte) }
    }

    private mutating func take(_ byte: UInt8) {
        switch state {
        case .text: takeText(byte)
        case .escape: takeEscape(byte)
        case .control(let content):
            if (0x40...0x7E).contains(byte) {
                state = .text
                takeControl(String(decoding: content, as: UTF8.self), Character(UnicodeScalar(byte)))
            } else {
                state = .control(content + [byte])
            }
        case .string(let introducer, var content, let escaped):
            // Appended in place: a picture is long.
            state = .text
            if escaped, byte == 0x5C { return end(introducer, content) }
            if escaped { content.append(0x1B) }
            if !escaped, byte == 0x07, introducer == "]" { return end(introducer, content) }
            // Within tmux's wrapping an ESC is doubled, and the pair is one ESC of the content.
            if byte == 0x1B, !(escaped && Self.isWrapping(content)) {
                state = .string(introducer, content, escaped: true)
            } else {
                if !(byte == 0x1B && escaped) { content.append(byte) }
                state = .string(introducer, content, escaped: false)
            }
        }
    }

    private static func isWrapping(_ content: [UInt8]) -> Bool { content.starts(with: "tmux;".utf8) }

    private mutating func takeText(_ byte: UInt8) {
        switch byte {
        case 0x1B: state = .escape
        case 0x0A: newLine()
        case 0x0D: column = 0
        case 0x00..<0x20, 0x7F: unexpected.append("control \(byte)")
        default:
            scalar.append(byte)
            let length = scalar[0] < 0x80 ? 1 : scalar[0] < 0xE0 ? 2 : scalar[0] < 0xF0 ? 3 : 4
            guard scalar.count == length else { return }
            let text = String(decoding: scalar, as: UTF8.self)
            scalar = []
            if let value = text.unicodeScalars.first?.value, (0x80...0x9F).contains(value) {
                unexpected.append("control \(value)")
            }
            for character in text { put(character) }
        }
    }

    private mutating func put(_ character: Character) {
        if column >= columns { newLine() }
        lines[row][column] = Cell(character: character, ink: colors.ink, paper: colors.paper)
        column += 1
    }

    private mutating func newLine() {
        (row, column) = (row + 1, 0)
        guard row >= top + rows else { return }
        top += 1
        lines.append(Array(repeating: Cell(), count: columns))
    }

    private mutating func takeEscape(_ byte: UInt8) {
        state = .text
        let character = Character(UnicodeScalar(byte))
        switch character {
        case "[": state = .control([])
        case "]", "_", "P", "^": state = .string(character, [], escaped: false)
        case "7": saved = (row, column)
        case "8": (row, column) = saved
        case "\\": break
        default: unexpected.append("escape \(character)")
        }
    }

    private mutating func takeControl(_ text: String, _ final: Character) {
        let numbers = text.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        let count = max(1, numbers.first ?? 1)
        switch (final, text) {
        case ("A", _): row = max(top, row - count)
        case ("B", _): row = min(top + rows - 1, row + count)
        case ("C", _): column = min(columns - 1, column + count)
        case ("m", _): takeColors(numbers)
        case ("l", "?25"): isCursorHidden = true
        case ("h", "?25"): isCursorHidden = false
        case ("h", "?2026"), ("l", "?2026"): break
        // The questions to a terminal.
        case ("c", ""), ("t", "16"), ("S", "?1;1;0"), ("S", "?2;1;0"): break
        default: unexpected.append("control sequence \(text)\(final)")
        }
    }

    private mutating func takeColors(_ numbers: [Int]) {
        switch numbers.first {
        case 0: colors = (nil, nil)
        case 39: colors.ink = nil
        case 49: colors.paper = nil
        case 38 where numbers.count == 5: colors.ink = Self.color(numbers)
        case 48 where numbers.count == 5: colors.paper = Self.color(numbers)
        case 38 where numbers.count == 3 && numbers[1] == 5: colors.ink = Self.palette(numbers[2])
        case 48 where numbers.count == 3 && numbers[1] == 5: colors.paper = Self.palette(numbers[2])
        default: unexpected.append("colours \(numbers)")
        }
    }

    /// A colour of xterm's palette.
    static func palette(_ index: Int) -> UInt32 {
        if index >= 232 { return UInt32(8 + (index - 232) * 10) * 0x010101 }
        let levels: [UInt32] = [0, 95, 135, 175, 215, 255]
        let place = index - 16
        return levels[place / 36] << 16 | levels[place / 6 % 6] << 8 | levels[place % 6]
    }

    private static func color(_ numbers: [Int]) -> UInt32 {
        UInt32(numbers[2]) << 16 | UInt32(numbers[3]) << 8 | UInt32(numbers[4])
    }

    private mutating func end(_ introducer: Character, _ content: [UInt8]) {
        guard introducer == "P", Self.isWrapping(content) else {
            texts.append(
                Text(introducer: introducer, content: content, row: row, column: column, wasWrapped: isInTmux))
            return
        }
        if isInTmux { unexpected.append("tmux within tmux") }
        isInTmux = true
        feed(content.dropFirst(5))
        isInTmux = false
    }
}
