import Foundation

/// What a kept body is found by: the URL of one hop, and the header fields that may change what comes back.
public struct PartialBodyKey: Hashable, Sendable {
    /// Without its fragment.
    public let url: String
    private let fields: [HTTPHeaders.Field]
    private let digest: DigestCredential?
    private let user: String?

    /// The fields that speak of what the asker has, or of how it is sent, and not of what is asked for.
    private static let passing: Set<String> = [
        "if-none-match", "if-modified-since", "cache-control", "pragma", "accept-encoding",
    ]
    /// With one of these the request's sender goes on with something of his own, or asks for a part.
    private static let own = ["Range", "If-Range", "If-Match", "If-Unmodified-Since"]

    /// Nil for a request whose answer cannot be gone on with.
    ///
    /// - Parameter user: what the transport shows the server beside the fields.
    init?(_ request: TransportRequest, user: String? = nil) {
        guard request.method == "GET", !Self.own.contains(where: request.headers.contains) else { return nil }
        url = request.url.withoutFragment
        var headers = request.headers
        headers.removeAll { Self.passing.contains($0) }
        fields = headers.fields.sorted { $0.name.lowercased() < $1.name.lowercased() }
        digest = request.digest
        self.user = user
    }

    /// Whether it tells one user from another.
    package var hasCredential: Bool {
        digest != nil || user != nil || fields.contains { CredentialFields.standard.contains($0.name) }
    }

    /// All of it, so that two keys are equal where these are. Credentials may be in it: to be hashed, not to be written.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        let asker = (digest.map { [$0.user, $0.password] } ?? []) + (user.map { ["user", $0] } ?? [])
        for text in [url] + asker + fields.flatMap({ [$0.name.lowercased(), $0.value] }) {
            // With its length, so that no text runs into the next.
            bytes += Array("\(text.utf8.count):".utf8) + Array(text.utf8)
        }
        return bytes
    }
}
