/// A user name and a password for digest authentication (RFC 7616), which proves the password without sending it.
///
/// A transport first sends the request without it, and answers the server's challenge once, for MD5 or SHA-256 with
/// `qop=auth`. It returns only the last of the two responses: the second one, or the first one if that has no challenge
/// that can be answered.
public struct DigestCredential: Hashable, Sendable {
    public let user: String
    public let password: String

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

extension DigestCredential: CustomStringConvertible, CustomDebugStringConvertible {
    /// A description without user name and password.
    public var description: String { "Digest credential" }
    public var debugDescription: String { description }
}
