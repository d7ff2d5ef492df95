import Foundation
import HalcyonImage

/// A blurred placeholder in a short text, which a server sends beside an image's URL, to show while the image loads.
///
/// The format and its formulas are those of the description at https://blurha.sh: a few cosine waves across and down,
/// each with an amount of red, green and blue light, in base 83. All operations are synchronous and run on the
/// caller's thread.
public struct BlurHash: Hashable, Sendable {
    /// The text: 4 characters and 2 more for each component, 6 to 166 in all.
    public let text: String
    /// The number of cosine waves across, 1 to 9.
    public let componentsX: Int
    /// The number of cosine waves down, 1 to 9.
    public let componentsY: Int
    /// The base 83 value of each character, 0 to 82.
    private let digits: [UInt8]

    /// Parses a text.
    ///
    /// - Throws: `BlurHashError` if no encoder writes the text: a character that is not a base 83 digit, a length
    ///   that does not fit the components, or a value beyond those of a colour.
    public init(_ text: String) throws(BlurHashError) {
        guard let first = text.first, text.count >= 6 else { throw .tooShort(characters: text.count) }
        guard let flag = Base83.digit(first) else { throw .invalidCharacter(first, at: 0) }
        guard flag < 81 else { throw .invalidSizeFlag(first) }
        let (x, y) = (Int(flag % 9) + 1, Int(flag / 9) + 1)
        let expected = 4 + 2 * x * y
        guard text.count == expected else { throw .wrongLength(characters: text.count, expected: expected) }
        var digits: [UInt8] = []
        digits.reserveCapacity(expected)
        for (offset, character) in text.enumerated() {
            guard let digit = Base83.digit(character) else { throw .invalidCharacter(character, at: offset) }
            digits.append(digit)
        }
        self.init(digits, componentsX: x, componentsY: y)
        guard average <= 0xFF_FFFF else { throw .invalidValue(at: 2) }
        for index in 1..<x * y where wave(index) >= Self.waveValues { throw .invalidValue(at: 4 + 2 * index) }
    }

    /// Creates the value from digits that make a valid text.
    init(_ digits: [UInt8], componentsX: Int, componentsY: Int) {
        text = String(decoding: digits.map { Base83.alphabet[Int($0)] }, as: UTF8.self)
        self.digits = digits
        self.componentsX = componentsX
        self.componentsY = componentsY
    }

    /// The average light of the image, which the text stores as a colour; opaque.
    public var averageColor: Color {
        func channel(_ shift: Int) -> Double { Double((average >> shift) & 255) / 255 }
        return Color(red: channel(16), green: channel(8), blue: channel(0))
    }

    /// The amplitude limit of the waves, 0 to 82; the strongest wave has an amount of light of
    /// `(strength + 1) / 166`.
    var strength: Int { Int(digits[1]) }
    /// The average colour as `0xRRGGBB`, a byte for each channel.
    var average: Int { Base83.number(digits[2..<6]) }

    /// The number of values of a wave: three channels of 19 steps.
    static let waveValues = 19 * 19 * 19

    /// Returns the red, green and blue of the component `index`, which is at least 1, in 19 steps each.
    func wave(_ index: Int) -> Int {
        let start = 4 + 2 * index
        return Base83.number(digits[start..<start + 2])
    }
}

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
            "\(String(character).debugDescription) at \(offset) is not a base 83 digit"
        case .invalidSizeFlag(let character): "no BlurHash begins with \(String(character).debugDescription)"
        case .wrongLength(let count, let expected):
            "\(count) characters in a BlurHash that begins as one of \(expected)"
        case .invalidValue(let offset): "the characters at \(offset) encode an invalid colour value"
        case .invalidComponents(let x, let y): "a BlurHash has 1 to 9 components a side, not \(x) and \(y)"
        case .invalidSize(let size): "the image of a BlurHash has 1 to 4096 pixels a side, not \(size)"
        case .invalidPunch(let punch): "a punch of \(punch)"
        case .invalidBackground: "a channel of the background is not finite"
        }
    }
}

extension BlurHashError: LocalizedError {
    public var errorDescription: String? { description }
}

/// The base 83 digits of a BlurHash text, in the order of the format's description.
enum Base83 {
    static let alphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

    /// The value of each digit, indexed by ASCII code.
    private static let digits: [UInt8?] = {
        var digits = [UInt8?](repeating: nil, count: 128)
        for (digit, code) in alphabet.enumerated() { digits[Int(code)] = UInt8(digit) }
        return digits
    }()

    /// Returns the value of a digit, 0 to 82, or nil if the character is not a base 83 digit.
    static func digit(_ character: Character) -> UInt8? {
        // An ASCII value is below 128.
        character.asciiValue.flatMap { digits[Int($0)] }
    }

    /// Returns the number that digits encode, the most significant digit first.
    static func number(_ digits: some Sequence<UInt8>) -> Int {
        digits.reduce(0) { $0 * 83 + Int($1) }
    }

    /// Encodes a number below 83 to the power of `count` as `count` digits.
    static func digits(_ number: Int, count: Int) -> [UInt8] {
        var digits = [UInt8](repeating: 0, count: count)
        var rest = number
        for index in digits.indices.reversed() {
            digits[index] = UInt8(rest % 83)
            rest /= 83
        }
        return digits
    }
}
