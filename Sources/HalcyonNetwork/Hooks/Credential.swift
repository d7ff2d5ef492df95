import Foundation

/// What a server is shown to let a request in. It goes to the origin (scheme, host, port) of the request's URL and to no
/// other, whatever redirects say; refused once, it ends the download in `DownloadError.Reason.unauthorized`.
public struct Credential: Hashable, Sendable {
    /// The value of the `Authorization` field.
    let authorization: String

    /// A name and a password, as of RFC 7617, in UTF-8. Only over https are they a secret.
    ///
    /// - Parameter user: without a colon; what follows one would be taken for the password.
    public static func basic(user: String, password: String) -> Credential {
        Credential(authorization: "Basic " + Data("\(user):\(password)".utf8).base64EncodedString())
    }

    /// A token, as of RFC 6750.
    public static func bearer(_ token: String) -> Credential {
        Credential(authorization: "Bearer " + token)
    }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible {
    /// Without the secret.
    public var description: String { authorization.prefix { $0 != " " } + " credential" }
    public var debugDescription: String { description }
}

extension HTTPHeaders {
    /// With a credential in place of another one; the same without one.
    public func showing(_ credential: Credential?) -> HTTPHeaders {
        guard let credential else { return self }
        var headers = self
        headers.set("Authorization", credential.authorization)
        return headers
    }
}
