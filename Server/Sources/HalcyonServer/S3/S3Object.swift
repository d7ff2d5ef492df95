import Foundation
import ImageURLs

/// An object of a store, as `s3://bucket/key` and `s3://bucket/key?version` name it.
///
/// The key is the path behind its first slash, percent-decoded. The text behind the question mark is an identity of a version, also
/// as `versionId=...`, and never anything else: no other operation of the store can be written.
struct S3Object: Hashable, Sendable {
    let bucket: String
    let key: [UInt8]
    let version: String?

    /// - Throws: `ImageURLError.path` if the address names no object: a bucket alone would be asked for the list of its objects.
    init(_ url: SourceURL) throws(ImageURLError) {
        bucket = url.host
        key = S3Encoding.decoded(url.path.utf8.dropFirst())
        // The longest key that a store keeps.
        guard (1...1024).contains(key.count) else { throw .path("the source names no object") }
        guard let query = url.query, !query.isEmpty else {
            version = nil
            return
        }
        let stated = query.hasPrefix("versionId=") ? String(query.dropFirst("versionId=".count)) : query
        let decoded = S3Encoding.decoded(stated.utf8)
        guard (1...1024).contains(decoded.count) else { throw .path("the source has no such version") }
        version = S3Encoding.encoded(decoded)
    }
}

/// The percent-encoding of signatures: letters, digits and `-._~` stand as they are, all else is encoded.
enum S3Encoding {
    static func encoded(_ bytes: some Sequence<UInt8>, keepsSlashes: Bool = false) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                text.append(byte)
            case UInt8(ascii: "/") where keepsSlashes: text.append(byte)
            default: text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of a text whose percent signs all have two digits behind them, as those of a `SourceURL`.
    static func decoded(_ text: some Sequence<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = [rest.next(), rest.next()].compactMap { $0 }
            bytes.append(UInt8(String(decoding: digits, as: UTF8.self), radix: 16) ?? byte)
        }
        return bytes
    }
}
