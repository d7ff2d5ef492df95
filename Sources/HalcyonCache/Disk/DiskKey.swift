import CXXHash
import Foundation
import HalcyonImage

/// What a disk entry is found by: the bytes that make it different from all others, and their XXH3-128.
///
/// The hash is computed once, here, and names the file; the bytes stand in the file and are compared, so that two keys
/// with one hash are a miss and never another entry. A name beside them is for people: a cache with readable file names
/// or extensions takes it for the file's, so that a key must come with the same name each time.
public struct DiskKey: Hashable, Sendable {
    /// The canonical bytes.
    public let bytes: [UInt8]
    /// What the entry's file is called where `DiskCache.Configuration` asks for it, such as the URL. Two keys that differ
    /// in nothing else are equal.
    public let name: String?
    let high: UInt64
    let low: UInt64

    /// - Parameter name: nil, the default, leaves the hash.
    public init(_ bytes: some Sequence<UInt8>, name: String? = nil) {
        self.bytes = Array(bytes)
        self.name = name
        let hash = self.bytes.withUnsafeBytes { XXH3_128bits($0.baseAddress, $0.count) }
        (high, low) = (hash.high64, hash.low64)
    }

    /// The key of a text, whose name is the text.
    public init(_ text: String) {
        self.init(text.utf8, name: text)
    }

    /// The key of what an encoder has been given.
    public init(_ encoder: KeyEncoder, name: String? = nil) {
        self.init(encoder.bytes, name: name)
    }

    /// The name of the entry's file where names are hashes, as they are by default: 32 hexadecimal digits.
    public var fileName: String { EntryName(high: high, low: low).fileName }

    /// The folder in which that file lies: the first two digits of its name.
    public var folderName: String { EntryName(high: high, low: low).folderName }

    public static func == (left: DiskKey, right: DiskKey) -> Bool {
        left.low == right.low && left.high == right.high && left.bytes == right.bytes
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(low)
    }
}
