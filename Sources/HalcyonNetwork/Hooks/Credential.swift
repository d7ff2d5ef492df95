import Foundation

/// A credential that authorizes requests to a server.
///
/// It is sent to the origin (scheme, host, port) of the request's URL and to no other, wherever redirects lead. If the
/// server refuses it, the download fails with `DownloadError.Reason.unauthorized`.
public struct Credential: Hashable, Sendable {
    private enum Kind: Hashable {
        /// The value of the `Authorization` field.
        case field(String)
        case digest(DigestCredential)
    }

    private let kind: Kind

    /// Returns a credential of a user name and a password (RFC 7617), in UTF-8. They are secret only over https.
    ///
    /// - Parameter user: The name, without a colon; the server would read anything after a colon as part of the password.
    public static func basic(user: String, password: String) -> Credential {
        Credential(kind: .field("Basic " + Data("\(user):\(password)".utf8).base64EncodedString()))
    }

    /// Returns a bearer token (RFC 6750).
    public static func bearer(_ token: String) -> Credential {
        Credential(kind: .field("Bearer " + token))
    }

    /// Returns a credential of a user name and a password that answers the server's challenge (RFC 7616), with MD5 or
    /// SHA-256: the password is not sent.
    ///
    /// Each download makes two requests, as the first one brings the challenge. `CurlTransport` supports it. With a
    /// transport that does not, according to `Transport.answersDigest`, nothing is sent and the download fails with
    /// `DownloadError.Reason.invalidRequest`.
    public static func digest(user: String, password: String) -> Credential {
        Credential(kind: .digest(DigestCredential(user: user, password: password)))
    }

    /// The user name and password with which the transport answers a challenge; nil for other credentials.
    package var digest: DigestCredential? {
        if case .digest(let digest) = kind { digest } else { nil }
    }

    /// The value of the `Authorization` field. For a digest, whose field differs with each request, it is a stand-in by
    /// which requests are compared.
    var authorization: String {
        switch kind {
        case .field(let value): value
        case .digest(let digest): "Digest " + Data(digest.user.utf8).base64EncodedString()
        }
    }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible {
    /// A description without the secret.
    public var description: String { authorization.prefix { $0 != " " } + " credential" }
    public var debugDescription: String { description }
}

extension HTTPHeaders {
    /// Returns these fields with a credential in place of any other one; unchanged if `credential` is nil.
    ///
    /// A digest is represented without its password; a downloader sends it as the request's `credential`, not as this field.
    package func showing(_ credential: Credential?) -> HTTPHeaders {
        guard let credential else { return self }
        var headers = self
        headers.set("Authorization", credential.authorization)
        return headers
    }
}
