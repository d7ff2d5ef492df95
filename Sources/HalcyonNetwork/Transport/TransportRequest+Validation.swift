import Foundation

extension TransportRequest {
    /// Throws `DownloadError` for a request that no transport can send: another scheme than http and https, no host, an
    /// invalid method or credential, header fields without a valid name or with line breaks.
    package func validate() throws {
        let scheme = url.scheme?.lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw DownloadError(.invalidURL("its scheme is neither http nor https"), url: url)
        }
        guard let host = url.host(percentEncoded: true), !host.isEmpty else {
            throw DownloadError(.invalidURL("it has no host"), url: url)
        }
        for field in headers.fields {
            guard !Self.breaksLine(field.name), !Self.breaksLine(field.value) else {
                throw DownloadError(.invalidRequest("a header field breaks its line"), url: url)
            }
            guard !field.name.isEmpty, !field.name.utf8.contains(where: { $0 == 0x3A || $0 == 0x20 }) else {
                throw DownloadError(.invalidRequest("a header field has no valid name"), url: url)
            }
        }
        // The user name becomes part of a field, and a zero byte ends both texts in C.
        if let digest, Self.breaksLine(digest.user) || digest.password.utf8.contains(0) {
            throw DownloadError(.invalidRequest("the credential cannot be sent"), url: url)
        }
        guard !method.isEmpty, method.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw DownloadError(.invalidRequest("the method is not valid"), url: url)
        }
    }

    private static func breaksLine(_ text: String) -> Bool {
        text.utf8.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0 }
    }
}
