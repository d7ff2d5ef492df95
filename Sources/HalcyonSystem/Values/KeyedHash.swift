import CCrypto

/// An HMAC-SHA-256: it distinguishes values without revealing them to anything that does not have the key.
///
/// Its description does not contain its digits.
package struct KeyedHash: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The length of a key in bytes.
    package static let keyLength = 32

    private let words: SIMD4<UInt64>

    package init(of message: [UInt8], key: [UInt8]) {
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        let made = HMAC(EVP_sha256(), key, Int32(clamping: key.count), message, message.count, &digest, &count)
        // If there is no memory for the hash, a random value that nothing else has: it causes a cache miss, and never a wrong
        // entry.
        if made == nil || count != 32 { digest = Self.newKey() }
        words = digest.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
    }

    /// The 32 bytes of the hash.
    package var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

    /// The first 16 bytes in 32 hexadecimal digits: a name for a file.
    package var fileName: String {
        bytes.prefix(16).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Returns a random key, which cannot be guessed.
    package static func newKey() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<keyLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    package var description: String { "a hash" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
