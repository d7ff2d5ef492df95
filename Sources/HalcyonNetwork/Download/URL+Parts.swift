import Foundation
import HalcyonSystem

extension URL {
    /// The URL's scheme, host and port, in the form in which origins are compared.
    package var webOrigin: String {
        let scheme = scheme?.lowercased() ?? ""
        let port = port ?? (scheme == "https" ? 443 : 80)
        return "\(scheme)://\(host(percentEncoded: true)?.lowercased() ?? ""):\(port)"
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

extension URL {
    /// The URL's text without its fragment, which is not sent to servers.
    package var withoutFragment: String { Self.withoutFragment(absoluteString) }

    /// Returns the text of a URL without its fragment.
    package static func withoutFragment(_ text: String) -> String {
        guard text.contains(byte: UInt8(ascii: "#")) else { return text }
        // By bytes: characters take many times as long, and this is called at several steps of each load.
        return text.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(text[..<$0]) } ?? text
    }
}
