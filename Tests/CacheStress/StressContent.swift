import Foundation
import HalcyonCache

/// The content of a key in a certain version. A reader can tell whether it is whole without having seen it written.
struct StressContent {
    let data: Data
    let metadata: Data
    let extended: Data

    /// - Parameter largest: no data is longer, in bytes; at least 16.
    init(key: Int, version: Int, largest: Int) {
        var random = StressRandom(
            state: UInt64(bitPattern: Int64(key)) &* 1_000_003 &+ UInt64(bitPattern: Int64(version)))
        // Small ones mostly, so that much happens in a short time, and some that take the disk a while.
        let limit = random.next() % 8 == 0 ? largest : largest / 16
        let size = 16 + Int(random.next() % UInt64(max(1, limit - 15)))
        var bytes = Self.number(key) + Self.number(version)
        bytes.reserveCapacity(size + 8)
        while bytes.count < size { withUnsafeBytes(of: random.next()) { bytes.append(contentsOf: $0) } }
        data = Data(bytes.prefix(size))
        metadata = Self.metadata(key: key, number: version)
        extended = Data(Self.number(version ^ key))
    }

    /// Returns metadata that identifies its number and differs in length.
    static func metadata(key: Int, number: Int) -> Data {
        Data("\(key)/\(number)/\(String(repeating: "m", count: abs(number) % 97))".utf8)
    }

    static func key(_ number: Int) -> CacheKey { CacheKey("stress \(number)".utf8) }

    /// The version of an entry; nil when it is not what was stored under this key, to the last byte.
    ///
    /// - Parameter updates: whether its metadata may be any that belongs to the key.
    static func version(of entry: CacheEntry, key: Int, largest: Int, updates: Bool = false) -> Int? {
        guard entry.data.count >= 16 else { return nil }
        let version = entry.data.dropFirst(8).prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let content = StressContent(key: key, version: Int(truncatingIfNeeded: version), largest: largest)
        guard content.data == entry.data, content.extended == entry.extended else { return nil }
        guard content.metadata == entry.metadata || updates && isMetadata(entry.metadata, key: key) else { return nil }
        return Int(truncatingIfNeeded: version)
    }

    private static func isMetadata(_ data: Data, key: Int) -> Bool {
        let parts = String(decoding: data, as: UTF8.self).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let number = Int(parts[1]) else { return false }
        return metadata(key: key, number: number) == data
    }

    private static func number(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt64(bitPattern: Int64(number)).littleEndian) { Array($0) }
    }
}
