/// The digits of a BlurHash, as its description lists them.
enum Base83 {
    static let alphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

    /// By ASCII code.
    private static let digits: [UInt8?] = {
        var digits = [UInt8?](repeating: nil, count: 128)
        for (digit, code) in alphabet.enumerated() { digits[Int(code)] = UInt8(digit) }
        return digits
    }()

    /// 0 to 82; nil for a character that is no digit.
    static func digit(_ character: Character) -> UInt8? {
        // An ASCII value is below 128.
        character.asciiValue.flatMap { digits[Int($0)] }
    }

    /// The number that digits stand for, the first the most significant.
    static func number(_ digits: some Sequence<UInt8>) -> Int {
        digits.reduce(0) { $0 * 83 + Int($1) }
    }

    /// The digits of a number below 83 to the power of `count`.
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
