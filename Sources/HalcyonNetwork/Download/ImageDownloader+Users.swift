import Foundation
import HalcyonSystem

/// For whom a download is, as caches tell users apart: a hash of what identifies its sender, never the credential itself.
extension ImageDownloader {
    /// Nil where nothing tells for whom the request is.
    ///
    /// - Parameter headers: the request's own; the downloader's are added.
    package func user(
        of url: URL, headers: HTTPHeaders, credential: Credential?, named name: String?
    ) -> KeyedHash? {
        // The way of nearly all requests, at each look into memory.
        if isAnonymous, headers.isEmpty, credential == nil, name == nil { return nil }
        var request = DownloadRequest(url: url, headers: defaultHeaders.merging(headers), credential: credential)
        request.user = name
        for interceptor in configuration.interceptors { request.user = interceptor.user(of: request) ?? request.user }
        return user(of: request, sending: request.headers.showing(credential))
    }

    /// For whom a request is with all that is sent of it.
    func user(of request: DownloadRequest, sending headers: HTTPHeaders) -> KeyedHash? {
        user(of: request, sending: headers, transport: transportUser(for: request.url))
    }

    private func user(of request: DownloadRequest, sending headers: HTTPHeaders, transport: String?) -> KeyedHash? {
        KeyedHash(
            user: request.user, credential: request.credential, headers: headers,
            fields: configuration.credentialFields, transport: transport)
    }

    /// The identity that the transport itself shows to a URL's host; nil for none.
    func transportUser(for url: URL) -> String? {
        let transport = configuration.transport
        guard transport.identifiesUsers else { return nil }
        let parts = [transport.user(for: url), transport.sendsCookies ? cookieOwner : nil].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    /// For whom a request was: for others as well where a redirect led to a host to which the transport shows something
    /// else, or a hook has added something on the way.
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
    /// The key is the same everywhere: the hash stays in memory, and a disk cache makes another of it, with its own key.
    private static let label = Array("halcyon.user".utf8)

    /// A hash of what identifies a request's sender; nil where nothing does.
    ///
    /// - Parameters:
    ///   - user: the name that the program has for who shows the credential, which then counts in the credential's place.
    ///   - headers: all that are sent, the credential's field among them.
    ///   - transport: what identifies the sender below the fields.
    package init?(
        user: String?, credential: Credential?, headers: HTTPHeaders, fields: CredentialFields, transport: String? = nil
    ) {
        var parts: [(name: String, value: String)] = []
        if let user {
            parts.append(("user", user))
        } else if let digest = credential?.digest, fields.contains("Authorization") {
            parts += [("digest", digest.user), ("digest", digest.password)]
        }
        // The order within one field counts, and the sort is stable.
        let named = headers.fields.map { (name: $0.name.lowercased(), value: $0.value) }.sorted { $0.name < $1.name }
        for field in named where fields.contains(field.name) {
            if field.name == "authorization", user != nil || credential?.digest != nil { continue }
            parts.append(("field " + field.name, field.value))
        }
        if let transport { parts.append(("transport", transport)) }
        guard !parts.isEmpty else { return nil }
        var message: [UInt8] = []
        for text in parts.flatMap({ [$0.name, $0.value] }) {
            // With its length, so that no text runs into the next.
            message += Array("\(text.utf8.count):".utf8) + Array(text.utf8)
        }
        self.init(of: message, key: Self.label)
    }
}

extension URL {
    /// Whether it brings a name or a password along.
    package var hasUser: Bool {
        // Only before the path is it one; a look for the sign alone says no of nearly all.
        absoluteString.utf8.contains(UInt8(ascii: "@")) && (user != nil || password != nil)
    }

    /// The name and the password that it brings along.
    package var credential: Credential? {
        guard hasUser else { return nil }
        return .basic(user: user(percentEncoded: false) ?? "", password: password(percentEncoded: false) ?? "")
    }
}

extension DownloadRequest {
    /// The same with what its URL says of a user as its credential: there it is never written, told or logged.
    func withCredentialOfURL() -> DownloadRequest {
        guard url.hasUser else { return self }
        var request = self
        if credential == nil, !headers.contains("Authorization") { request.credential = url.credential }
        request.url = url.withoutUser
        return request
    }
}

/// For whom the transfers of one download were.
final class SentUsers: Sendable {
    private let users = Lock<Set<KeyedHash?>>([])

    var all: Set<KeyedHash?> { users.withLock { $0 } }

    func add(_ others: Set<KeyedHash?>) {
        users.withLock { $0.formUnion(others) }
    }
}
