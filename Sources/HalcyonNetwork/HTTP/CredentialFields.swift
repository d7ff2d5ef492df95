/// Which header fields of a request tell for whom it is.
///
/// Caches keep the answers to requests that differ in them apart, each for who asked, unless an answer says `public` or
/// `s-maxage`. By default these are the fields whose names speak of a credential: `Authorization`, `Proxy-Authorization`,
/// `Cookie`, and all with one of these in their names: auth, cookie, token, secret, key, credential, password, session,
/// signature, jwt, user (but for `User-Agent`), account, tenant.
public struct CredentialFields: Sendable, Hashable {
    private var added: Set<String>
    private var left: Set<String>

    /// - Parameters:
    ///   - added: names of further fields. None by default.
    ///   - left: names of fields that tell nobody apart, whatever they are called: `Authorization` where all users of a
    ///     program show the same token. None by default.
    public init(adding added: [String] = [], without left: [String] = []) {
        self.added = Set(added.map { $0.lowercased() })
        self.left = Set(left.map { $0.lowercased() })
    }

    /// Nothing added, nothing left out.
    public static let standard = CredentialFields()

    /// Whether a field is one of them. Upper and lower case are the same.
    public func contains(_ name: String) -> Bool {
        let name = name.lowercased()
        if added.contains(name) { return true }
        guard !Self.harmless.contains(name), !left.contains(name) else { return false }
        return Self.speaksOfSecrets(name) || Self.users.contains { name.contains($0) }
    }

    /// Whether the program has named a field, in lower case.
    func isAdded(_ name: String) -> Bool { added.contains(name) }

    /// Whether any of the fields is one of them.
    func areIn(_ headers: HTTPHeaders) -> Bool {
        headers.fields.contains { contains($0.name) }
    }

    /// Whether a name, in lower case, speaks of a secret: those of the protocol, and what services call theirs.
    static func speaksOfSecrets(_ name: String) -> Bool {
        secrets.contains { name.contains($0) }
    }

    private static let secrets = [
        "auth", "cookie", "token", "secret", "key", "credential", "password", "session", "signature", "jwt",
    ]
    private static let users = ["user", "account", "tenant"]
    /// Fields of nearly all requests, so that their names are not looked through.
    private static let harmless: Set<String> = [
        "user-agent", "accept", "accept-encoding", "accept-language", "cache-control", "pragma", "referer", "range",
        "if-none-match", "if-modified-since",
    ]
}
