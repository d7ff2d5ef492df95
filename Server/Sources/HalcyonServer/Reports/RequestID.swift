import Foundation

/// The identity of a request in logs and answers: that of `X-Request-Id`, where the field is sane, or a new one.
struct RequestID: Hashable, Sendable, CustomStringConvertible {
    let description: String

    /// - Parameter field: the value of the client's field. One of other characters than letters, digits, `-`, `_`, `.` and `:`, or
    ///   of more than 128 of them, is replaced: it goes into logs and answers.
    init(_ field: String?) {
        if let field, (1...128).contains(field.utf8.count), field.utf8.allSatisfy(Self.isSane) {
            description = field
        } else {
            description = Self.random()
        }
    }

    /// A random UUID (RFC 9562, 5.4). Foundation's own opens a file of the system for each of them, and formats its text slowly.
    private static func random() -> String {
        var bits = (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max))
        return withUnsafeMutableBytes(of: &bits) { bytes in
            bytes[6] = bytes[6] & 0x0f | 0x40
            bytes[8] = bytes[8] & 0x3f | 0x80
            return String(unsafeUninitializedCapacity: 36) { text in
                var count = 0
                func append(_ character: UInt8) {
                    text[count] = character
                    count += 1
                }
                for (index, byte) in bytes.enumerated() {
                    if [4, 6, 8, 10].contains(index) { append(UInt8(ascii: "-")) }
                    for digit in [byte >> 4, byte & 15] { append(digit + (digit < 10 ? 48 : 87)) }
                }
                return count
            }
        }
    }

    private static func isSane(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-_.:".utf8.contains(byte)
        }
    }
}
