import CZlib
import Foundation
import Testing

/// A small file that would cost a careless decoder hours or gigabytes.
struct Bomb: Decodable, Sendable, CustomTestStringConvertible {
    let name: String
    let format: String
    /// The harm that the file would do.
    let why: String
    /// The path among the fixtures, or the recipe of the file: bytes in hexadecimal, each with a number of repetitions.
    let file: String?
    let recipe: [Part]?
    let bytes: Int
    let crc32: UInt
    /// The codes of the acceptable errors; `image` if the file is one that can be decoded at little cost.
    let accepted: [String]

    struct Part: Decodable, Sendable {
        let bytes: [UInt8]
        let count: Int

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            let text = Array(try list.decode(String.self).utf8)
            count = try list.decode(Int.self)
            bytes = stride(from: 0, to: text.count, by: 2).compactMap {
                UInt8(String(decoding: text[$0..<$0 + 2], as: UTF8.self), radix: 16)
            }
        }

        /// By doubling: a million appends of a byte would take longer than the decode.
        var repeated: Data {
            guard count > 0 else { return Data() }
            var result = Data(capacity: bytes.count * count)
            result.append(contentsOf: bytes)
            while result.count < bytes.count * count {
                result.append(result.prefix(bytes.count * count - result.count))
            }
            return result
        }
    }

    var testDescription: String { name }

    static let all: [Bomb] = {
        guard let data = try? Fixture.read("bombs/index.json") else { return [] }
        return (try? JSONDecoder().decode([Bomb].self, from: data)) ?? []
    }()

    func data() throws -> Data {
        if let file { return try Fixture.read(file) }
        var whole = Data(capacity: bytes)
        for part in recipe ?? [] {
            whole.append(part.repeated)
        }
        let sum = whole.withUnsafeBytes { crc32_z(0, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count) }
        try #require(whole.count == bytes)
        try #require(UInt(sum) == crc32)
        return whole
    }
}
