import Foundation

extension URL {
    /// Scheme, host and port, as origins are compared.
    package var webOrigin: String {
        let scheme = scheme?.lowercased() ?? ""
        let port = port ?? (scheme == "https" ? 443 : 80)
        return "\(scheme)://\(host(percentEncoded: true)?.lowercased() ?? ""):\(port)"
    }
}

extension HTTPHeaders {
    /// Removes what must not go to another origin, with what the program has named as telling for whom a request is.
    package mutating func removeSecrets(_ fields: CredentialFields) {
        removeAll { Self.staysBehind($0) || fields.isAdded($0) }
    }

    /// Whether a field stays at its origin: what speaks of that origin, and what may hold a secret, by its name.
    private static func staysBehind(_ name: String) -> Bool {
        ["host", "origin", "referer"].contains(name) || CredentialFields.speaksOfSecrets(name)
    }
}

extension URL {
    /// Without the name and password that a URL may bring along.
    package var withoutUser: URL {
        guard var parts = URLComponents(url: absoluteURL, resolvingAgainstBaseURL: true) else { return self }
        (parts.user, parts.password) = (nil, nil)
        return parts.url ?? self
    }
}
