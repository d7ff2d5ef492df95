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
