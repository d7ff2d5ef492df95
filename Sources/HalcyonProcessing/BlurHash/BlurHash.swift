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
