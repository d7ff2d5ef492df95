/// The header fields of a request that identify its user.
///
/// Caches keep the responses to requests that differ in these fields apart, unless a response is `public` or has an
/// `s-maxage`. By default these are the fields whose names suggest a credential: `Authorization`,
/// `Proxy-Authorization`, `Cookie`, and all whose names contain one of these: auth, cookie, token, secret, key,
/// credential, password, session, signature, jwt, user (but not `User-Agent`), account, tenant.
public struct CredentialFields: Sendable, Hashable {
    private var added: Set<String>
    private var left: Set<String>

    /// Creates a set of fields from the default ones.
    ///
    /// - Parameters:
    ///   - added: The names of further fields. None by default.
    ///   - left: The names of fields that do not identify a user, whatever their names suggest: for example
    ///     `Authorization` if all users of a program send the same token. None by default.
    public init(adding added: [String] = [], without left: [String] = []) {
        self.added = Set(added.map { $0.lowercased() })
        self.left = Set(left.map { $0.lowercased() })
    }

    /// The default fields.
    public static let standard = CredentialFields()

    /// Returns whether a field identifies a user, ignoring case.
    public func contains(_ name: String) -> Bool {
        let name = name.lowercased()
        if added.contains(name) { return true }
        guard !Self.harmless.contains(name), !left.contains(name) else { return false }
        return Self.speaksOfSecrets(name) || Self.users.contains { name.contains($0) }
    }

    /// Returns whether the program has added a field, given in lower case.
    func isAdded(_ name: String) -> Bool { added.contains(name) }

    /// Returns whether any of the fields identifies a user.
    func areIn(_ headers: HTTPHeaders) -> Bool {
        headers.fields.contains { contains($0.name) }
    }

    /// Returns whether a field's name, given in lower case, suggests a secret: those of the protocol, and names that
    /// services commonly use.
    static func speaksOfSecrets(_ name: String) -> Bool {
        secrets.contains { name.contains($0) }
    }

    private static let secrets = [
        "auth", "cookie", "token", "secret", "key", "credential", "password", "session", "signature", "jwt",
    ]
    private static let users = ["user", "account", "tenant"]
    /// Fields of nearly all requests, listed so that their names are not searched.
    private static let harmless: Set<String> = [
        "user-agent", "accept", "accept-encoding", "accept-language", "cache-control", "pragma", "referer", "range",
        "if-none-match", "if-modified-since",
    ]
}

extension HTTPHeaders {
    /// Removes the fields that must not be sent to another origin, including those that the program has added as
    /// identifying users.
    package mutating func removeSecrets(_ fields: CredentialFields) {
        removeAll { Self.isWithheld($0) || fields.isAdded($0) }
    }

    /// Returns whether a field must not leave its origin: it describes that origin, or may contain a secret, judging by
    /// its name.
    private static func isWithheld(_ name: String) -> Bool {
        ["host", "origin", "referer"].contains(name) || CredentialFields.speaksOfSecrets(name)
    }
}
