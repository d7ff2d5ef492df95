import Foundation

extension URL {
    /// The URL's scheme, host and port, in the form in which origins are compared.
    package var webOrigin: String {
        let scheme = scheme?.lowercased() ?? ""
        let port = port ?? (scheme == "https" ? 443 : 80)
        return "\(scheme)://\(host(percentEncoded: true)?.lowercased() ?? ""):\(port)"
    }
}

extension HTTPHeaders {
    /// Removes the fields that must not be sent to another origin, including those that the program has added as
    /// identifying users.
    package mutating func removeSecrets(_ fields: CredentialFields) {
        removeAll { Self.staysBehind($0) || fields.isAdded($0) }
    }

    /// Returns whether a field must not leave its origin: it describes that origin, or may contain a secret, judging by
    /// its name.
    private static func staysBehind(_ name: String) -> Bool {
        ["host", "origin", "referer"].contains(name) || CredentialFields.speaksOfSecrets(name)
    }
}

extension URL {
    /// The URL without the user name and password that it may contain.
    package var withoutUser: URL {
        guard var parts = URLComponents(url: absoluteURL, resolvingAgainstBaseURL: true) else { return self }
        (parts.user, parts.password) = (nil, nil)
        return parts.url ?? self
    }
}
