import CCrypto

/// An HMAC-SHA-256: it tells values apart without telling what they are, to whoever does not have the key.
///
/// It is printed without its digits.
package struct KeyedHash: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The length of a key in bytes.
    package static let keyLength = 32

    private let words: SIMD4<UInt64>

    package init(of message: [UInt8], key: [UInt8]) {
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        let made = HMAC(EVP_sha256(), key, Int32(clamping: key.count), message, message.count, &digest, &count)
        // Without memory for it, a hash that nothing else has: a miss, and never the place of another.
        if made == nil || count != 32 { digest = Self.newKey() }
        words = digest.withUnsafeBytes { $0.loadUnaligned(as: SIMD4<UInt64>.self) }
    }

    /// The 32 bytes.
    package var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }

    /// The first 16 of them in 32 hexadecimal digits: a name for a file.
    package var fileName: String {
        bytes.prefix(16).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Bytes for a key that nobody can guess.
    package static func newKey() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<keyLength).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    package var description: String { "a hash" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
