import Foundation
import HalcyonCache
import HalcyonNetwork

/// The header of a kept body's journal: its key, and the record of the server's response.
///
/// The header consists of a signature, the length, a hash and then JSON; the body begins at the next page. It contains only a
/// hash of the request's header fields, as credentials may be among them.
struct PartialBodyLabel: Codable, Equatable {
    let url: String
    let key: String
    /// The boot identifier of the system. After another boot the disk may have less than was written.
    let boot: String
    let record: PartialBodyRecord

    static let page = 4096
    private static let signature = Array("HalcyPB2".utf8)
    private static let prefix = 48
    private static let longest = 60 << 10

    /// Creates a label.
    ///
    /// - Parameter name: the name of the key's files.
    init(_ key: PartialBodyKey, name: String, _ record: PartialBodyRecord) {
        url = key.url
        self.key = name
        boot = Self.thisBoot
        self.record = record
    }

    /// Whether the label belongs to the key whose files have this name, and to this boot of the system.
    func isCurrent(for key: PartialBodyKey, name: String) -> Bool {
        // On a system without boot identifiers no label can be trusted.
        url == key.url && self.key == name && boot == Self.thisBoot && !boot.isEmpty
    }

    /// Returns the encoded header; nil if it is too long to be read again.
    func encoded() -> Data? {
        guard let text = try? JSONEncoder().encode(self), text.count <= Self.longest else { return nil }
        var bytes = Self.signature
        withUnsafeBytes(of: UInt64(text.count).littleEndian) { bytes += $0 }
        bytes += Array(CacheKey(text).fileName.utf8)
        bytes += text
        bytes += [UInt8](repeating: 0, count: Self.offset(of: text.count) - bytes.count)
        return Data(bytes)
    }

    /// Reads the label from the beginning of a file.
    ///
    /// - Returns: the label and the offset of the body; nil if there is no label, or if it is damaged.
    static func read(_ file: Int32, by files: any FileSystem) -> (label: PartialBodyLabel, offset: Int)? {
        guard let start = PartialBodyFiles.read(prefix, at: 0, of: file, by: files), Array(start.prefix(8)) == signature
        else {
            return nil
        }
        let length = start[8..<16].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length <= UInt64(longest), let text = PartialBodyFiles.read(Int(length), at: prefix, of: file, by: files),
            Array(CacheKey(Array(text)).fileName.utf8) == Array(start[16..<48]),
            let label = try? JSONDecoder().decode(Self.self, from: text)
        else { return nil }
        return (label, offset(of: Int(length)))
    }

    private static func offset(of length: Int) -> Int {
        (prefix + length + page - 1) / page * page
    }

    private static let thisBoot =
        (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?
        .trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
}
