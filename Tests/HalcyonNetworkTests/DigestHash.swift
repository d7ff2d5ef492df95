import Foundation
import Glibc

/// The hashes of digest credentials, by the OpenSSL that libcurl loads into the process.
enum DigestHash: String, CaseIterable, Sendable {
    case md5 = "MD5"
    case sha256 = "SHA-256"

    static let isAvailable = library != 0

    private typealias Function =
        @convention(c) (
            UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?
        ) -> UnsafeMutablePointer<UInt8>?

    /// As a number, since pointers are not Sendable.
    private static let library = Int(bitPattern: dlopen("libcrypto.so.3", RTLD_NOW))

    /// Returns the hash in hexadecimal digits; empty without that library.
    func callAsFunction(_ text: String) -> String {
        let name = self == .md5 ? "MD5" : "SHA256"
        guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: Self.library), name) else { return "" }
        let function = unsafeBitCast(symbol, to: Function.self)
        var result = [UInt8](repeating: 0, count: self == .md5 ? 16 : 32)
        let bytes = Array(text.utf8)
        _ = function(bytes, bytes.count, &result)
        return result.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// The `response` of RFC 7616, section 3.4.1, for `qop=auth`.
    func response(
        user: String, realm: String, password: String, method: String, uri: String, nonce: String, count: String,
        clientNonce: String
    ) -> String {
        self(
            "\(self("\(user):\(realm):\(password)")):\(nonce):\(count):\(clientNonce):auth:\(self("\(method):\(uri)"))")
    }
}
