import Foundation

/// A chain of redirects: the next URL, and the caller's fields that are sent there.
struct RedirectChain {
    private(set) var url: URL {
        didSet { if url.webOrigin != oldValue.webOrigin { digest = nil } }
    }
    private(set) var headers: HTTPHeaders
    /// The digest credential, for as long as the chain has not left its origin.
    private(set) var digest: DigestCredential?
    private(set) var count = 0
    /// Whether all redirects were permanent.
    private(set) var isPermanent = true
    private let limit: Int
    private let credentialFields: CredentialFields
    private var visited: Set<String>

    init(
        url: URL, headers: HTTPHeaders, digest: DigestCredential? = nil, limit: Int,
        credentialFields: CredentialFields = .standard
    ) {
        self.url = url
        self.headers = headers
        self.digest = digest
        self.limit = limit
        self.credentialFields = credentialFields
        visited = [url.withoutFragment]
    }

    /// Returns whether a status is a redirect. 300 offers a choice, 304 answers a condition, 305 and 306 are obsolete.
    static func isRedirect(_ status: Int) -> Bool {
        [301, 302, 303, 307, 308].contains(status)
    }

    /// Continues to the target of a redirect.
    ///
    /// - Throws: `DownloadError` with `.redirect`.
    mutating func follow(_ head: HTTPResponseHead) throws {
        func failure(_ why: RedirectFailure) -> DownloadError { DownloadError(.redirect(why), url: url) }
        guard let location = head.headers["Location"].map(Self.readable)?.trimmingCharacters(in: .whitespaces),
            !location.isEmpty,
            let next = URL(string: location, relativeTo: url)?.absoluteURL, let scheme = next.scheme?.lowercased()
        else { throw failure(.badLocation) }
        guard scheme == "http" || scheme == "https" else { throw failure(.schemeNotAllowed(scheme)) }
        guard let host = next.host(percentEncoded: true), !host.isEmpty else { throw failure(.badLocation) }
        guard count < limit else { throw failure(.tooMany(limit: limit)) }
        guard visited.insert(next.withoutFragment).inserted else { throw failure(.loop) }
        count += 1
        if head.status != 301, head.status != 308 { isPermanent = false }
        // They are not restored if the chain returns to its first origin: it has passed through another one.
        if next.webOrigin != url.webOrigin { headers.removeSecrets(credentialFields) }
        go(to: next)
    }

    /// Sets the next URL. A user name and a password in it are sent as a credential and removed from it.
    private mutating func go(to next: URL) {
        if let credential = next.credential, !headers.contains("Authorization") {
            headers = headers.showing(credential)
        }
        url = next.hasUser ? next.withoutUser : next
    }

    /// The URL and fields of the next request.
    var target: RedirectTarget {
        get { RedirectTarget(url: url, headers: headers) }
        set {
            headers = newValue.headers
            go(to: newValue.url)
        }
    }

    /// Decodes a location in UTF-8 that was read with one character per byte.
    private static func readable(_ text: String) -> String {
        guard text.unicodeScalars.allSatisfy({ $0.value <= 0xFF }) else { return text }
        return String(validating: text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }, as: UTF8.self)
            ?? text
    }
}
