import Foundation

/// The key of a partial body: the URL of one hop, and the header fields that may change the response.
public struct PartialBodyKey: Hashable, Sendable {
    /// The URL without its fragment.
    public let url: String
    private let fields: [HTTPHeaders.Field]
    private let digest: DigestCredential?
    private let user: String?

    /// The fields that describe what the client has, or how the response is transferred, and not which resource is requested.
    private static let passing: Set<String> = [
        "if-none-match", "if-modified-since", "cache-control", "pragma", "accept-encoding",
    ]
    /// The fields with which the caller makes a conditional or partial request of its own.
    private static let own = ["Range", "If-Range", "If-Match", "If-Unmodified-Since"]

    /// Creates the key of a request; nil if its response cannot be resumed.
    ///
    /// - Parameter user: The identity that the transport shows to the server besides the fields.
    init?(_ request: TransportRequest, user: String? = nil) {
        guard request.method == "GET", !Self.own.contains(where: request.headers.contains) else { return nil }
        url = request.url.withoutFragment
        var headers = request.headers
        headers.removeAll { Self.passing.contains($0) }
        fields = headers.fields.sorted { $0.name.lowercased() < $1.name.lowercased() }
        digest = request.digest
        self.user = user
    }

    /// Whether the key contains a credential or another identity, so that it differs from one user to another.
    package var hasCredential: Bool {
        digest != nil || user != nil || fields.contains { CredentialFields.standard.contains($0.name) }
    }

    /// The key as bytes: two keys are equal if these are. They may contain credentials, so hash them and never store them.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        let asker = (digest.map { [$0.user, $0.password] } ?? []) + (user.map { ["user", $0] } ?? [])
        for text in [url] + asker + fields.flatMap({ [$0.name.lowercased(), $0.value] }) {
            // Each text is preceded by its length, so that two texts cannot run together.
            bytes += Array("\(text.utf8.count):".utf8) + Array(text.utf8)
        }
        return bytes
    }
}
