/// A name and a password that are proved and not sent, as of RFC 7616.
///
/// A transport that is given one asks without it first, and answers the server's challenge once, for MD5 or SHA-256 with
/// `qop=auth`. Of these two answers only the last is handed out: the second one, or the first where that challenged to
/// nothing that can be answered.
public struct DigestCredential: Hashable, Sendable {
    public let user: String
    public let password: String

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension DigestCredential: CustomStringConvertible, CustomDebugStringConvertible {
    /// Without name and password.
    public var description: String { "Digest credential" }
    public var debugDescription: String { description }
}
