import HalcyonImage

/// Why there is no BlurHash, or no image of one.
public enum BlurHashError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A text of fewer than the 6 characters that the shortest one has.
    case tooShort(characters: Int)
    /// A character that base 83 does not have; the first one is at 0.
    case invalidCharacter(Character, at: Int)
    /// A first character that stands for more than 9 components.
    case invalidSizeFlag(Character)
    /// Another length than the components need that the first character stands for.
    case wrongLength(characters: Int, expected: Int)
    /// Characters that stand for more than a colour has; the text's first one is at 0.
    case invalidValue(at: Int)
    /// Components outside 1...9.
    case invalidComponents(x: Int, y: Int)
    /// A side outside 1...4,096 pixels.
    case invalidSize(PixelSize)
    /// A punch that is infinite or no number.
    case invalidPunch(Double)
    /// A background with a channel that is infinite or no number.
    case invalidBackground

    public var description: String {
        switch self {
        case .tooShort(let count): "a BlurHash has at least 6 characters, not \(count)"
        case .invalidCharacter(let character, let offset):
            "\(String(character).debugDescription) at \(offset) is no character of a BlurHash"
        case .invalidSizeFlag(let character): "no BlurHash begins with \(String(character).debugDescription)"
        case .wrongLength(let count, let expected):
            "\(count) characters in a BlurHash that begins as one of \(expected)"
        case .invalidValue(let offset): "the characters at \(offset) stand for no colour"
        case .invalidComponents(let x, let y): "a BlurHash has 1 to 9 components a side, not \(x) and \(y)"
        case .invalidSize(let size): "the image of a BlurHash has 1 to 4096 pixels a side, not \(size)"
        case .invalidPunch(let punch): "a punch of \(punch)"
        case .invalidBackground: "a background with a channel that is no number"
        }
    }
}
