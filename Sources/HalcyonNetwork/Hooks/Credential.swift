import Foundation

/// What a server is shown to let a request in. It goes to the origin (scheme, host, port) of the request's URL and to no
/// other, whatever redirects say; refused once, it ends the download in `DownloadError.Reason.unauthorized`.
public struct Credential: Hashable, Sendable {
    private enum Kind: Hashable {
        /// The value of the `Authorization` field.
        case field(String)
        case digest(DigestCredential)
    }

    private let kind: Kind

    /// A name and a password, as of RFC 7617, in UTF-8. Only over https are they a secret.
    ///
    /// - Parameter user: without a colon; what follows one would be taken for the password.
    public static func basic(user: String, password: String) -> Credential {
        Credential(kind: .field("Basic " + Data("\(user):\(password)".utf8).base64EncodedString()))
    }

    /// A token, as of RFC 6750.
    public static func bearer(_ token: String) -> Credential {
        Credential(kind: .field("Bearer " + token))
    }

    /// A name and a password that answer the server's challenge, as of RFC 7616, with MD5 or SHA-256: the password is not
    /// sent. Each download makes two requests, as the first brings the challenge. `CurlTransport` can do it; another
    /// transport that cannot, by `Transport.answersDigest`, is not asked: that is `DownloadError.Reason.invalidRequest`.
    public static func digest(user: String, password: String) -> Credential {
        Credential(kind: .digest(DigestCredential(user: user, password: password)))
    }

    /// What the transport answers a challenge with.
    package var digest: DigestCredential? {
        if case .digest(let digest) = kind { digest } else { nil }
    }

    /// The value of the `Authorization` field; for a digest, whose field is another one each time, what stands for it
    /// where requests are compared.
    var authorization: String {
        switch kind {
        case .field(let value): value
        case .digest(let digest): "Digest " + Data(digest.user.utf8).base64EncodedString()
        }
    }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible {
    /// Without the secret.
    public var description: String { authorization.prefix { $0 != " " } + " credential" }
    public var debugDescription: String { description }
}

extension HTTPHeaders {
    /// With a credential in place of another one; the same without one. A digest stands there without its password, and
    /// a downloader sends that as the request's `credential`, not as this field.
    public func showing(_ credential: Credential?) -> HTTPHeaders {
        guard let credential else { return self }
        var headers = self
        headers.set("Authorization", credential.authorization)
        return headers
    }
}
