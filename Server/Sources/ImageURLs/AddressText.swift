import Foundation

/// Texts of URLs and the encodings around them.
enum AddressText {
    /// The bytes behind `%XX`. `nil` if a `%` stands without two digits, or the result is not UTF-8.
    ///
    /// `+` stays: it is a space in forms only.
    static func percentDecoded(_ text: some StringProtocol) -> String? {
        bytes(decoding: text).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The bytes behind `%XX`. `nil` if a `%` stands without two digits.
    static func bytes(decoding text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(hexDigit), let low = rest.next().flatMap(hexDigit) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// The text of URL-safe base64, with padding or without. `nil` if it is none, or its bytes are not UTF-8.
    static func base64Decoded(_ text: some StringProtocol) -> String? {
        var bits: UInt32 = 0
        var count = 0
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var padding = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let value = base64Digit(byte) else { return nil }
            bits = (bits << 6 | value) & 0xFFFF
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        // Six bits left over are a digit that belongs to no byte.
        guard padding <= 2, count < 6 else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The URL with the characters percent-encoded that none may hold: spaces, quotes, brackets and all that is not ASCII.
    ///
    /// - Throws: `path` if it is empty or holds control characters.
    static func encoded(_ text: String) throws(ImageURLError) -> String {
        guard !text.isEmpty else { throw .path("the source is empty") }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            guard byte >= 0x20, byte != 0x7F else { throw .path("the source has control characters") }
            if byte > 0x7F || isUnwise(byte) {
                bytes += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text with everything but letters, digits and `-._~` percent-encoded, so that nothing in it can be taken for the
    /// text around it.
    static func component(_ text: String) -> String {
        encoded(Array(text.utf8), except: isUnreserved)
    }

    /// The text of bytes, percent-encoded except those that may stand as they are.
    static func encoded(_ text: [UInt8], except isPlain: (UInt8) -> Bool) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        for byte in text {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The URL with both slashes behind its scheme, where a proxy that tidies paths left one; `local:/` gets three.
    static func withSlashes(_ text: Substring) -> Substring {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), isScheme(text[..<colon]) else { return text }
        let rest = text[text.utf8.index(after: colon)...]
        guard rest.hasPrefix("/"), !rest.hasPrefix("//") else { return text }
        let scheme = text[..<colon]
        return Substring(scheme + (scheme == "local" ? "://" : ":/") + rest)
    }

    /// Whether the URL states its scheme, followed by `://`.
    static func isAbsolute(_ text: some StringProtocol) -> Bool {
        guard let mark = text.range(of: "://") else { return false }
        return isScheme(text[..<mark.lowerBound])
    }

    static func isScheme(_ text: some StringProtocol) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 16, isAlphanumeric(first),
            first > UInt8(ascii: "9")
        else { return false }
        return text.utf8.allSatisfy { isAlphanumeric($0) || "+-.".utf8.contains($0) }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: isAlphanumeric(byte)
        }
    }

    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }

    /// Whether the byte is one of the printable characters that no URL holds (RFC 3986), apart from the backslash.
    static func isUnwise(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            true
        default: false
        }
    }

    static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    static func base64Digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
