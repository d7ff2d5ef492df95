import HalcyonImage

/// A blurred image in a short text, which a server sends beside an image's URL: what to show while the image loads.
///
/// The format and its formulas are those of the description at https://blurha.sh: a few cosine waves across and down,
/// each with an amount of red, green and blue light, in base 83. Nothing here waits or hops to another thread.
public struct BlurHash: Hashable, Sendable {
    /// The text: 4 characters and 2 for each component, 6 to 166 of them.
    public let text: String
    /// Cosine waves across, 1 to 9.
    public let componentsX: Int
    /// Cosine waves down, 1 to 9.
    public let componentsY: Int
    /// What each character stands for, 0 to 82.
    private let digits: [UInt8]

    /// Reads a text.
    ///
    /// - Throws: `BlurHashError` where the text is not one that an encoder writes: a character that base 83 does not
    ///   have, a length that does not fit the components, a value beyond those of a colour.
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

    /// Of digits that make a valid text.
    init(_ digits: [UInt8], componentsX: Int, componentsY: Int) {
        text = String(decoding: digits.map { Base83.alphabet[Int($0)] }, as: UTF8.self)
        self.digits = digits
        self.componentsX = componentsX
        self.componentsY = componentsY
    }

    /// The average of the image's light, which the text holds as a colour; opaque.
    public var averageColor: Color {
        func channel(_ shift: Int) -> Double { Double((average >> shift) & 255) / 255 }
        return Color(red: channel(16), green: channel(8), blue: channel(0))
    }

    /// How strongly the strongest wave may be, 0 to 82; its amount of light is `(strength + 1) / 166`.
    var strength: Int { Int(digits[1]) }
    /// Red, green and blue, a byte each.
    var average: Int { Base83.number(digits[2..<6]) }

    /// What three channels of 19 steps make.
    static let waveValues = 19 * 19 * 19

    /// Red, green and blue of the component `index`, which is at least 1, in 19 steps each.
    func wave(_ index: Int) -> Int {
        let start = 4 + 2 * index
        return Base83.number(digits[start..<start + 2])
    }
}
