import HalcyonImage

/// An error of parsing, encoding or drawing a BlurHash.
public enum BlurHashError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text has fewer than 6 characters, the length of the shortest one.
    case tooShort(characters: Int)
    /// The text has a character that is not a base 83 digit, at this offset; the first character is at 0.
    case invalidCharacter(Character, at: Int)
    /// The first character encodes more than 9 components on an axis.
    case invalidSizeFlag(Character)
    /// The text's length differs from the one that the components in its first character need.
    case wrongLength(characters: Int, expected: Int)
    /// The characters at this offset encode a value beyond those of a colour; the first character is at 0.
    case invalidValue(at: Int)
    /// A number of components is outside 1...9.
    case invalidComponents(x: Int, y: Int)
    /// A side is outside 1...4,096 pixels.
    case invalidSize(PixelSize)
    /// The punch is infinite or not a number.
    case invalidPunch(Double)
    /// A channel of the background is infinite or not a number.
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
