import Halcyon

/// The facts that a terminal has given about itself.
struct TerminalAnswers: Hashable, Sendable {
    /// Whether it knows the graphics protocol of Kitty.
    var hasKitty = false
    /// The attributes of its answer to DA1, without its class; nil if it has not answered.
    var attributes: Set<Int>?
    /// The size of a cell in pixels.
    var cell: PixelSize?
    /// The largest picture that it draws by Sixel, in pixels.
    var sixelLimit: PixelSize?
    /// The number of colours of one picture by Sixel.
    var sixelColors: Int?
    /// The colour of its background.
    var background: Color?
}

/// A reader of a terminal's answers, which arrive in any parts and may be anything.
///
/// Its memory and its work are bounded: a sequence is cut at `maximumLength`, all of them together at `maximumBytes`.
struct TerminalAnswerReader: Sendable {
    /// The maximum bytes of all answers, keys that a user has pressed meanwhile included.
    static let maximumBytes = 4096
    /// The maximum bytes of one answer; a longer one is skipped.
    static let maximumLength = 256

    private enum State {
        case text
        case escape
        /// A control sequence: `ESC [`.
        case control
        /// A string sequence, by its introducer.
        case string(UInt8)
        /// The ESC within a string, which a backslash follows.
        case stringEscape(UInt8)
    }

    private(set) var answers = TerminalAnswers()
    private var state = State.text
    private var content: [UInt8] = []
    private var count = 0

    /// Whether nothing more is to be read: the last query is answered, or too much has come.
    var isDone: Bool { answers.attributes != nil || count >= Self.maximumBytes }

    mutating func read(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            guard count < Self.maximumBytes else { return }
            count += 1
            take(byte)
        }
    }

    private mutating func take(_ byte: UInt8) {
        switch state {
        case .text:
            if byte == ControlSequence.escape { state = .escape }
        case .escape: begin(byte)
        case .control:
            switch byte {
            case 0x20...0x3F: collect(byte)
            case 0x40...0x7E:
                if content.count <= Self.maximumLength { takeControl(final: byte) }
                state = .text
            case ControlSequence.escape: state = .escape
            default: state = .text
            }
        case .string(let introducer):
            switch byte {
            case ControlSequence.escape: state = .stringEscape(introducer)
            case 0x07: end(introducer)
            // CAN and SUB abandon a sequence.
            case 0x18, 0x1A: state = .text
            default: collect(byte)
            }
        case .stringEscape(let introducer):
            if byte == 0x5C { end(introducer) } else { begin(byte) }
        }
    }

    private mutating func begin(_ byte: UInt8) {
        content = []
        switch byte {
        case UInt8(ascii: "["): state = .control
        case UInt8(ascii: "]"), UInt8(ascii: "_"), UInt8(ascii: "P"), UInt8(ascii: "^"), UInt8(ascii: "X"):
            state = .string(byte)
        case ControlSequence.escape: state = .escape
        default: state = .text
        }
    }

    /// Keeps a byte, and one more than the limit as the mark of a sequence that is too long.
    private mutating func collect(_ byte: UInt8) {
        if content.count <= Self.maximumLength { content.append(byte) }
    }

    private mutating func end(_ introducer: UInt8) {
        state = .text
        guard content.count <= Self.maximumLength else { return }
        let text = String(decoding: content, as: UTF8.self)
        if introducer == UInt8(ascii: "_") { takeKitty(text) }
        if introducer == UInt8(ascii: "]") { takeBackground(text) }
    }

    private mutating func takeControl(final: UInt8) {
        let text = String(decoding: content, as: UTF8.self)
        let isPrivate = text.hasPrefix("?")
        let numbers = text.drop { $0 == "?" }.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
        switch final {
        case UInt8(ascii: "c") where isPrivate:
            answers.attributes = Set(numbers.dropFirst().compactMap { $0 })
        case UInt8(ascii: "t") where !isPrivate && numbers.count == 3 && numbers[0] == 6:
            answers.cell = TerminalSize.plausibleCell(width: numbers[2], height: numbers[1])
        case UInt8(ascii: "S") where isPrivate && numbers.count == 3 && numbers[0] == 1 && numbers[1] == 0:
            guard let count = numbers[2], count >= 2 else { return }
            answers.sixelColors = count
        case UInt8(ascii: "S") where isPrivate && numbers.count == 4 && numbers[0] == 2 && numbers[1] == 0:
            guard let width = numbers[2], let height = numbers[3], width > 0, height > 0 else { return }
            answers.sixelLimit = PixelSize(width, height)
        default: break
        }
    }

    /// Takes an answer such as `Gi=31;OK`.
    private mutating func takeKitty(_ text: String) {
        let parts = text.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasPrefix("G"), parts[1] == "OK" else { return }
        let keys = parts[0].dropFirst().split(separator: ",")
        if keys.contains("i=\(TerminalQuery.kittyID)") { answers.hasKitty = true }
    }

    /// Takes an answer such as `11;rgb:1c1c/1c1c/1c1c`.
    private mutating func takeBackground(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "11;rgb" || parts[0] == "11;rgba" else { return }
        let channels = parts[1].split(separator: "/", omittingEmptySubsequences: false).map(Self.channel)
        guard channels.count == 3 || channels.count == 4, let red = channels[0], let green = channels[1],
            let blue = channels[2]
        else { return }
        answers.background = Color(red: red, green: green, blue: blue)
    }

    /// Reads one to four hexadecimal digits as a fraction of their largest value.
    private static func channel(_ text: Substring) -> Double? {
        guard (1...4).contains(text.utf8.count), text.allSatisfy({ $0.isASCII && $0.isHexDigit }),
            let value = Int(text, radix: 16)
        else { return nil }
        return Double(value) / Double((1 << (4 * text.utf8.count)) - 1)
    }
}
