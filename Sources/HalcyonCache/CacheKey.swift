import CXXHash
import Foundation
import HalcyonImage
import HalcyonSystem

/// The key of an entry in a disk cache or another store: the bytes that distinguish it from all others, and their XXH3-128.
///
/// The hash is computed once, here, and names the file; the bytes are stored in the file and compared, so that two keys
/// with the same hash are a miss and never another entry. The name is for people to read: a cache with readable file names
/// or extensions derives the file's name from it, so that a key must come with the same name each time.
public struct CacheKey: Hashable, Sendable {
    /// The canonical bytes.
    public let bytes: [UInt8]
    /// The name, such as the URL, that the entry's file gets if `DiskCache.Configuration` requests readable names. Keys
    /// that differ only in it are equal.
    public let name: String?
    /// The user to whom the entry belongs; nil for all users. Each cache hashes it with its own secret; the result is part
    /// of the hash that names the file, and is stored in the file.
    let user: KeyedHash?
    /// Whether the entry says something on this machine alone, as that of a file does.
    private let isLocal: Bool
    let high: UInt64
    let low: UInt64

    /// Creates a key from bytes.
    ///
    /// - Parameter name: nil, the default, uses the hash as the file's name.
    public init(_ bytes: some Sequence<UInt8>, name: String? = nil) {
        self.init(Array(bytes), name: name, user: nil, isLocal: false)
    }

    private init(_ bytes: [UInt8], name: String?, user: KeyedHash?, isLocal: Bool) {
        self.bytes = bytes
        self.name = name
        self.user = user
        self.isLocal = isLocal
        let hash = self.bytes.withUnsafeBytes { XXH3_128bits($0.baseAddress, $0.count) }
        (high, low) = (hash.high64, hash.low64)
    }

    /// Creates the key of a text, which is also its name.
    public init(_ text: String) {
        self.init(text.utf8, name: text)
    }

    /// Creates the key of the bytes in an encoder.
    public init(_ encoder: KeyEncoder, name: String? = nil) {
        self.init(encoder.bytes, name: name)
    }

    /// Whether the entry belongs to one user. Only a `DiskCache` receives such a key, and never a store behind it.
    public var isPrivate: Bool { user != nil }

    /// Whether a store that other machines share may have the entry.
    package var isShareable: Bool { !isPrivate && !isLocal }

    /// Returns the key of one user's own entry, or of one that says something on this machine alone; the same key if it is
    /// neither.
    package func of(_ user: KeyedHash?, isLocal: Bool = false) -> CacheKey {
        user == nil && !isLocal ? self : CacheKey(bytes, name: name, user: user, isLocal: isLocal)
    }

    /// Returns the key that is stored in a cache's files, with the user hashed by the cache's own secret.
    func sealed(with secret: [UInt8]) -> CacheKey {
        guard let user else { return self }
        let owner = KeyedHash(of: user.bytes, key: secret)
        let sealed = CacheKey(bytes + Array("halcyon.user".utf8) + owner.bytes)
        return name.map { CacheKey(sealed.bytes, name: "\($0)@\(sealed.fileName)") } ?? sealed
    }

    /// The name of the entry's file if names are hashes, as they are by default: 32 hexadecimal digits. For the entry of
    /// one user only the cache knows the name, see `DiskCache.path(for:)`.
    public var fileName: String { EntryName(high: high, low: low).fileName }

    /// The name of the folder of that file: the first two digits of the file's name.
    public var folderName: String { EntryName(high: high, low: low).folderName }

    public static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.low == right.low && left.high == right.high && left.user == right.user && left.bytes == right.bytes
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(low)
    }
}

/// A hash that distinguishes contents.
package enum ContentHash {
    /// Returns the XXH3-128 of some bytes in 32 hexadecimal digits. Costs about 0.1 ms for a megabyte.
    package static func text(of data: Data) -> String {
        let hash = data.withUnsafeBytes { XXH3_128bits($0.baseAddress, $0.count) }
        return EntryName(high: hash.high64, low: hash.low64).fileName
    }
}
