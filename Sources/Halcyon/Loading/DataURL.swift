import Foundation

/// A decoder of `data:` URLs (RFC 2397).
enum DataURL {
    /// The reason why a URL cannot be decoded.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Returns the bytes of base64 (missing padding and percent-escapes are allowed, as in browsers) or of percent-encoded
    /// text.
    ///
    /// - Throws: `Failure`.
    static func decode(_ text: String) throws -> Data {
        guard text.prefix(5).lowercased() == "data:" else { throw Failure(description: "it is not a data: URL") }
        let content = text.dropFirst(5)
        guard let comma = content.firstIndex(of: ",") else {
            throw Failure(description: "the data: URL has no comma before its data")
        }
        let parameters = content[..<comma].lowercased().split(separator: ";", omittingEmptySubsequences: false)
        guard let body = percentDecoded(content[content.index(after: comma)...]) else {
            throw Failure(description: "the data: URL has a broken percent-escape")
        }
        let isBase64 = parameters.dropFirst().contains { $0.trimmingCharacters(in: .whitespaces) == "base64" }
        return isBase64 ? try base64Decoded(body) : body
    }

    private static func base64Decoded(_ body: Data) throws -> Data {
        guard let data = base64Bytes(body) else {
            throw Failure(description: "the data: URL's base64 is broken")
        }
        return data
    }

    /// Returns the bytes of base64 text, in which white space and missing padding are allowed; nil if it is not base64.
    static func base64Bytes(_ text: Data) -> Data? {
        var symbols = text.filter { ![0x20, 0x09, 0x0A, 0x0C, 0x0D].contains($0) }
        while symbols.last == UInt8(ascii: "=") { symbols.removeLast() }
        symbols.append(contentsOf: repeatElement(UInt8(ascii: "="), count: (4 - symbols.count % 4) % 4))
        return Data(base64Encoded: symbols)
    }

    private static func percentDecoded(_ text: Substring) -> Data? {
        var data = Data(capacity: text.utf8.count)
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                data.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexValue), let low = rest.popFirst().flatMap(hexValue) else {
                return nil
            }
            data.append(high << 4 | low)
        }
        return data
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
