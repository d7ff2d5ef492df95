import CXXHash
import Foundation
import HalcyonImage
import HalcyonSystem

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
    /// For whom the entry is, nil for all. Each cache makes a hash of its own of it, by which the file is called and which
    /// stands in it.
    let user: KeyedHash?
    let high: UInt64
    let low: UInt64

    /// - Parameter name: nil, the default, leaves the hash.
    public init(_ bytes: some Sequence<UInt8>, name: String? = nil) {
        self.init(Array(bytes), name: name, user: nil)
    }

    private init(_ bytes: [UInt8], name: String?, user: KeyedHash?) {
        self.bytes = bytes
        self.name = name
        self.user = user
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

    /// The same entry of one user.
    package func of(_ user: KeyedHash?) -> DiskKey {
        user == nil ? self : DiskKey(bytes, name: name, user: user)
    }

    /// The key as it stands in a cache's files, by the cache's own secret.
    func sealed(with secret: [UInt8]) -> DiskKey {
        guard let user else { return self }
        let owner = KeyedHash(of: user.bytes, key: secret)
        let sealed = DiskKey(bytes + Array("halcyon.user".utf8) + owner.bytes)
        return name.map { DiskKey(sealed.bytes, name: "\($0)@\(sealed.fileName)") } ?? sealed
    }

    /// The name of the entry's file where names are hashes, as they are by default: 32 hexadecimal digits. That of an entry
    /// of one user only its cache knows, by `DiskCache.path(for:)`.
    public var fileName: String { EntryName(high: high, low: low).fileName }

    /// The folder in which that file lies: the first two digits of its name.
    public var folderName: String { EntryName(high: high, low: low).folderName }

    public static func == (left: DiskKey, right: DiskKey) -> Bool {
        left.low == right.low && left.high == right.high && left.user == right.user && left.bytes == right.bytes
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(low)
    }
}
