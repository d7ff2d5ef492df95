import Foundation
import HalcyonSystem
import TestSupport

/// A server that accepts clients with the password of RFC 7616's example, and checks every part of the proof.
final class DigestServer: Sendable {
    enum Manner: Sendable {
        case proper
        /// Every answer is called stale, with a new nonce.
        case alwaysStale
        /// It closes after the challenge.
        case closing
        /// It wants a password in the clear.
        case basicOnly
        /// The refusal has no body.
        case bare
    }

    static let user = "Mufasa"
    static let password = "Circle of Life"
    static let realm = "http-auth@example.org"
    static let refusal = Data("go away".utf8)
    static let body = Data("picture".utf8)

    private let server: RawServer

    init(_ hash: DigestHash, _ manner: Manner = .proper, redirect: String? = nil) throws {
        let nonces = Lock(0)
        server = try RawServer { connection in
            while let head = connection.readRequest() {
                if let proof = Self.proof(in: head), manner != .alwaysStale, manner != .basicOnly,
                    Self.isRight(proof, hash, head: head)
                {
                    if let redirect {
                        try connection.answer(Data(), status: "302 Found", fields: "Location: \(redirect)\r\n")
                    } else {
                        try connection.answer(Self.body)
                    }
                    continue
                }
                let nonce = nonces.withLock { nonces in
                    nonces += 1
                    return "nonce-\(nonces)"
                }
                var fields =
                    "WWW-Authenticate: Digest realm=\"\(Self.realm)\", qop=\"auth\", algorithm=\(hash.rawValue), nonce=\"\(nonce)\""
                if manner == .alwaysStale { fields += ", stale=true" }
                if manner == .basicOnly { fields = "WWW-Authenticate: Basic realm=\"\(Self.realm)\"" }
                if manner == .closing { fields += "\r\nConnection: close" }
                try connection.answer(
                    manner == .bare ? Data() : Self.refusal, status: "401 Unauthorized", fields: fields + "\r\n")
                if manner == .closing { return }
            }
        }
    }

    func url(_ path: String = "/dir/index.html?a=1") -> URL { server.url(path) }
    var port: Int { server.port }
    var requests: [String] { server.requests }
    func stop() { server.stop() }

    static func proof(in head: String) -> String? {
        head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("authorization: digest ") }.map(String.init)
    }

    private static func isRight(_ proof: String, _ hash: DigestHash, head: String) -> Bool {
        func part(_ name: String) -> String {
            let parts = proof.dropFirst("authorization: digest ".count).split(separator: ",")
            let part = parts.map { $0.trimmingCharacters(in: .whitespaces) }.first { $0.hasPrefix(name + "=") }
            return (part ?? "").dropFirst(name.count + 1).trimmingCharacters(in: ["\""])
        }
        let expected = hash.response(
            user: user, realm: realm, password: password, method: "GET", uri: RawServerConnection.path(of: head),
            nonce: part("nonce"), count: part("nc"), clientNonce: part("cnonce"))
        return part("username") == user && part("realm") == realm && part("uri") == RawServerConnection.path(of: head)
            && part("qop") == "auth" && part("nc") == "00000001" && part("response") == expected
    }
}
