import Foundation
import HalcyonSystem

/// The identity of a download's user, by which caches tell users apart: a hash of the data that identifies the sender,
/// never the credential itself.
extension ImageDownloader {
    /// Returns the user of a request; nil if nothing identifies one.
    ///
    /// - Parameter headers: The request's own fields; the downloader's are added.
    package func user(
        of url: URL, headers: HTTPHeaders, credential: Credential?, named name: String?
    ) -> KeyedHash? {
        // The fast path of nearly all requests, taken at each memory cache lookup.
        if isAnonymous, headers.isEmpty, credential == nil, name == nil { return nil }
        var request = DownloadRequest(url: url, headers: defaultHeaders.merging(headers), credential: credential)
        request.user = name
        for interceptor in configuration.interceptors { request.user = interceptor.user(of: request) ?? request.user }
        return user(of: request, sending: request.headers.showing(credential))
    }

    /// Returns the user of a request by all that is sent.
    func user(of request: DownloadRequest, sending headers: HTTPHeaders) -> KeyedHash? {
        user(of: request, sending: headers, transport: transportUser(for: request.url))
    }

    private func user(of request: DownloadRequest, sending headers: HTTPHeaders, transport: String?) -> KeyedHash? {
        KeyedHash(
            user: request.user, credential: request.credential, headers: headers,
            fields: configuration.credentialFields, transport: transport)
    }

    /// Returns the identity that the transport itself shows to a URL's host; nil for none.
    func transportUser(for url: URL) -> String? {
        let transport = configuration.transport
        guard transport.identifiesUsers else { return nil }
        let parts = [transport.user(for: url), transport.sendsCookies ? cookieOwner : nil].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    /// Returns the users of a finished request. There are several if the transport shows another identity to the host
    /// of a redirect, or if a hook added something on the way.
    func users(of request: DownloadRequest, sending headers: HTTPHeaders, by hops: [DownloadResult.Hop])
        -> Set<KeyedHash?>
    {
        let own = transportUser(for: request.url)
        var users = Set([user(of: request, sending: headers, transport: own)])
        for hop in hops {
            var sent = headers
            for field in hop.added where !headers.fields.contains(field) { sent.append(field.name, field.value) }
            users.insert(user(of: request, sending: sent, transport: transportUser(for: hop.url) ?? own))
        }
        return users
    }
}

extension KeyedHash {
    /// The hash's key, which is the same everywhere: the hash stays in memory, and a disk cache hashes it again with a
    /// key of its own.
    private static let label = Array("halcyon.user".utf8)

    /// Creates a hash of the data that identifies a request's sender; nil if there is none.
    ///
    /// - Parameters:
    ///   - user: The program's name for the credential's user, which replaces the credential in the hash.
    ///   - headers: All fields that are sent, including the credential's.
    ///   - transport: The identity that the transport adds.
    package init?(
        user: String?, credential: Credential?, headers: HTTPHeaders, fields: CredentialFields, transport: String? = nil
    ) {
        var parts: [(name: String, value: String)] = []
        if let user {
            parts.append(("user", user))
        } else if let digest = credential?.digest, fields.contains("Authorization") {
            parts += [("digest", digest.user), ("digest", digest.password)]
        }
        // The order of fields with the same name counts, and the sort is stable.
        let named = headers.fields.map { (name: $0.name.lowercased(), value: $0.value) }.sorted { $0.name < $1.name }
        for field in named where fields.contains(field.name) {
            if field.name == "authorization", user != nil || credential?.digest != nil { continue }
            parts.append(("field " + field.name, field.value))
        }
        if let transport { parts.append(("transport", transport)) }
        guard !parts.isEmpty else { return nil }
        var message: [UInt8] = []
        for text in parts.flatMap({ [$0.name, $0.value] }) {
            // Each text is preceded by its length, so that two texts cannot run together.
            message += Array("\(text.utf8.count):".utf8) + Array(text.utf8)
        }
        self.init(of: message, key: Self.label)
    }
}

extension URL {
    /// Whether the URL contains a user name or a password.
    package var hasUser: Bool {
        // An "@" means that only before the path; the search for it excludes nearly all URLs.
        absoluteString.contains(byte: UInt8(ascii: "@")) && (user != nil || password != nil)
    }

    /// The credential of the user name and password that the URL contains.
    package var credential: Credential? {
        guard hasUser else { return nil }
        return .basic(user: user(percentEncoded: false) ?? "", password: password(percentEncoded: false) ?? "")
    }
}

extension DownloadRequest {
    /// Returns the request with the user name and password of its URL as its credential, so that they are neither
    /// written, reported nor logged with the URL.
    func withCredentialOfURL() -> DownloadRequest {
        guard url.hasUser else { return self }
        var request = self
        if credential == nil, !headers.contains("Authorization") { request.credential = url.credential }
        request.url = url.withoutUser
        return request
    }
}

/// The users of the transfers of one download.
final class SentUsers: Sendable {
    private let users = Lock<Set<KeyedHash?>>([])

    var all: Set<KeyedHash?> { users.withLock { $0 } }

    func add(_ others: Set<KeyedHash?>) {
        users.withLock { $0.formUnion(others) }
    }
}
