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
            description = UUID().uuidString.lowercased()
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
