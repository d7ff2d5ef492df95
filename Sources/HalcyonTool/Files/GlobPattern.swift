/// One part of a pattern of file names, between two slashes: `*`, `?`, `[a-z]`, `[!a-z]`, and `\` before a character that is
/// meant as such.
struct GlobPattern: Sendable {
    private enum Token: Sendable {
        case any
        case one
        case set([ClosedRange<UInt32>], isNegated: Bool)
        case character(UInt32)

        func matches(_ character: UInt32) -> Bool {
            switch self {
            case .any, .one: true
            case .set(let ranges, let isNegated): ranges.contains { $0.contains(character) } != isNegated
            case .character(let own): own == character
            }
        }

        var isAny: Bool { if case .any = self { true } else { false } }
    }

    private let tokens: [Token]
    /// Whether the part is `**`: any number of folders, also none.
    let isAnyDepth: Bool

    init(_ bytes: some Collection<UInt8>) {
        isAnyDepth = bytes.elementsEqual("**".utf8)
        let characters = Self.characters(bytes)
        var tokens: [Token] = []
        var index = 0
        while index < characters.count {
            let (token, next) = Self.token(characters, at: index)
            // A row of stars is one star.
            if !(token.isAny && tokens.last?.isAny == true) { tokens.append(token) }
            index = next
        }
        self.tokens = tokens
    }

    /// The name that the part means, if it has no wildcard.
    static func hasWildcard(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "[") }
    }

    /// Returns whether a name matches. A leading dot is matched only by a dot in the pattern, as in a shell.
    ///
    /// Cost: at most the product of the lengths; only the last star is ever tried again.
    func matches(_ name: some Collection<UInt8>) -> Bool {
        let name = Self.characters(name)
        if name.first == Self.dot {
            guard case .character(Self.dot)? = tokens.first else { return false }
        }
        var (token, position) = (0, 0)
        var star: (token: Int, position: Int)?
        while position < name.count {
            if token < tokens.count, tokens[token].isAny {
                star = (token, position)
                token += 1
            } else if token < tokens.count, tokens[token].matches(name[position]) {
                token += 1
                position += 1
            } else if let last = star {
                star = (last.token, last.position + 1)
                (token, position) = (last.token + 1, last.position + 1)
            } else {
                return false
            }
        }
        return tokens[token...].allSatisfy(\.isAny)
    }

    private static let dot = UInt32(0x2E)

    /// The characters of a name. Bytes that are no UTF-8 are characters of their own, beyond those of Unicode.
    private static func characters(_ bytes: some Collection<UInt8>) -> [UInt32] {
        let bytes = Array(bytes)
        if let text = String(validating: bytes, as: UTF8.self) { return text.unicodeScalars.map(\.value) }
        return bytes.map { $0 < 0x80 ? UInt32($0) : 0x20_0000 + UInt32($0) }
    }

    private static func token(_ text: [UInt32], at index: Int) -> (Token, next: Int) {
        switch text[index] {
        case 0x2A: return (.any, index + 1)
        case 0x3F: return (.one, index + 1)
        case 0x5B: return set(text, at: index) ?? (.character(text[index]), index + 1)
        case 0x5C where index + 1 < text.count: return (.character(text[index + 1]), index + 2)
        default: return (.character(text[index]), index + 1)
        }
    }

    /// Parses a bracket expression; nil if its end is missing: then the bracket is a character.
    private static func set(_ text: [UInt32], at start: Int) -> (Token, next: Int)? {
        var index = start + 1
        var isNegated = false
        if index < text.count, text[index] == 0x21 || text[index] == 0x5E {
            isNegated = true
            index += 1
        }
        let first = index
        var ranges: [ClosedRange<UInt32>] = []
        while index < text.count {
            // A bracket that closes is a character if it is the first.
            if text[index] == 0x5D, index > first { return (.set(ranges, isNegated: isNegated), index + 1) }
            let low = text[index]
            if index + 2 < text.count, text[index + 1] == 0x2D, text[index + 2] != 0x5D {
                let high = text[index + 2]
                if low <= high { ranges.append(low...high) }
                index += 3
            } else {
                ranges.append(low...low)
                index += 1
            }
        }
        return nil
    }
}
