import Crypto
import Foundation

/// The keys that sign the URLs of one grammar, and the policy for URLs without a signature.
///
/// Several keys are valid at once, so that they can be changed without a moment in which URLs are refused: the first one
/// signs, each of them verifies. Comparison takes the same time wherever texts differ, and looks at every key.
public struct URLKeys: Sendable {
    /// The message authentication code and its text in a URL.
    enum Method: Sendable {
        /// SHA-256 over salt and path, cut to `size` bytes, without padding.
        case imgproxy(size: Int)
        /// SHA-1 over the path without its leading slash, with padding.
        case thumbor
    }

    private struct Key: Sendable {
        let secret: SymmetricKey
        let salt: [UInt8]
    }

    private let method: Method
    private let keys: [Key]
    private let trusted: [[UInt8]]
    /// Whether URLs without a valid signature are answered.
    let policy: Policy

    /// The treatment of URLs that carry no signature of a key.
    public enum Policy: Sendable, Hashable {
        /// They are refused.
        case signedOnly
        /// They are answered if there are no keys at all. imgproxy works so.
        case unsignedWithoutKeys
        /// They are answered if the word `unsafe` stands in place of the signature, keys or not. thumbor works so unless
        /// it is configured otherwise; not for servers that strangers reach.
        case unsafeAllowed
    }

    /// imgproxy's: HMAC-SHA256, also for Halcyon's own grammar.
    ///
    /// - Parameters:
    ///   - pairs: keys and salts in hexadecimal, the signing one first.
    ///   - size: bytes of the signature, 1...32, 32 by default. Below 16 bytes signatures can be guessed in time.
    ///   - trusted: texts that are taken in place of a signature.
    ///   - policy: for URLs without a signature. `signedOnly` by default.
    /// - Throws: ``ConfigurationError`` for a key that is empty, no hexadecimal text, or a size out of range.
    public static func imgproxy(
        _ pairs: [(key: String, salt: String)], size: Int = 32, trusted: [String] = [], policy: Policy = .signedOnly
    ) throws(ConfigurationError) -> URLKeys {
        guard (1...32).contains(size) else {
            throw ConfigurationError(setting: "signature size", reason: "\(size) is not from 1 to 32")
        }
        var keys: [Key] = []
        for (index, pair) in pairs.enumerated() {
            guard let key = bytes(hex: pair.key), !key.isEmpty, let salt = bytes(hex: pair.salt) else {
                throw ConfigurationError(setting: "key \(index + 1)", reason: "hexadecimal digits are expected")
            }
            keys.append(Key(secret: SymmetricKey(data: key), salt: salt))
        }
        return URLKeys(
            method: .imgproxy(size: size), keys: keys, trusted: trusted.map { Array($0.utf8) }, policy: policy)
    }

    /// thumbor's: HMAC-SHA1, which is no weakness of SHA-1 in this use.
    ///
    /// - Parameters:
    ///   - keys: secrets as text, the signing one first.
    ///   - policy: for URLs without a signature. `signedOnly` by default.
    /// - Throws: ``ConfigurationError`` for an empty key.
    public static func thumbor(
        _ keys: [String], policy: Policy = .signedOnly
    ) throws(ConfigurationError) -> URLKeys {
        guard keys.allSatisfy({ !$0.isEmpty }) else {
            throw ConfigurationError(setting: "thumbor's key", reason: "it is empty")
        }
        return URLKeys(
            method: .thumbor, keys: keys.map { Key(secret: SymmetricKey(data: Array($0.utf8)), salt: []) }, trusted: [],
            policy: policy)
    }

    private init(method: Method, keys: [Key], trusted: [[UInt8]], policy: Policy) {
        (self.method, self.keys, self.trusted, self.policy) = (method, keys, trusted, policy)
    }

    /// Whether there is none.
    public var isEmpty: Bool { keys.isEmpty }

    /// The signature of a path by the first key. `nil` without keys.
    ///
    /// - Parameter path: everything behind the signature, from its leading slash on; one is added if it is missing.
    public func signature(of path: String) -> String? {
        keys.first.map { String(decoding: signature(of: path, by: $0), as: UTF8.self) }
    }

    /// The index of the first path that the signature is valid for, `nil` if there is none.
    func firstSigned(_ paths: [String], by signature: some StringProtocol) -> Int? {
        let given = Array(signature.utf8)
        var first: Int?
        for (index, path) in paths.enumerated() {
            var isValid = false
            for key in keys where Self.areEqual(given, self.signature(of: path, by: key)) { isValid = true }
            if isValid, first == nil { first = index }
        }
        for text in trusted where Self.areEqual(given, text) && first == nil { first = 0 }
        return first
    }

    /// Whether a URL with this text in place of a signature is answered although no key made it.
    func admitsUnsigned(_ signature: some StringProtocol) -> Bool {
        switch policy {
        case .signedOnly: false
        case .unsignedWithoutKeys: keys.isEmpty
        case .unsafeAllowed: keys.isEmpty || signature == "unsafe"
        }
    }

    private func signature(of path: String, by key: Key) -> [UInt8] {
        let slashed = path.hasPrefix("/") ? path : "/" + path
        switch method {
        case .imgproxy(let size):
            var code = HMAC<SHA256>(key: key.secret)
            code.update(data: key.salt)
            code.update(data: Array(slashed.utf8))
            return Self.text(of: Data(Data(code.finalize()).prefix(size))).filter { $0 != UInt8(ascii: "=") }
        case .thumbor:
            let code = HMAC<Insecure.SHA1>.authenticationCode(for: Array(slashed.utf8.dropFirst()), using: key.secret)
            return Self.text(of: Data(code))
        }
    }

    /// URL-safe base64 with padding.
    private static func text(of bytes: Data) -> [UInt8] {
        bytes.base64EncodedString().utf8.map { digit in
            switch digit {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: digit
            }
        }
    }

    /// Comparison without an early exit. Texts are compared, not the bytes behind them, so that each path has one signature.
    private static func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        guard first.count == second.count else { return false }
        var difference: UInt8 = 0
        for index in first.indices { difference |= first[index] ^ second[index] }
        return difference == 0
    }

    private static func bytes(hex text: String) -> [UInt8]? {
        let digits = text.utf8.map(AddressText.hexDigit)
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}

/// A setting that makes no sense, found when the server starts.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The setting, with the part of it that is wrong.
    public let setting: String
    public let reason: String

    public init(setting: String, reason: String) {
        (self.setting, self.reason) = (setting, reason)
    }

    public var description: String { "\(setting): \(reason)" }
}
