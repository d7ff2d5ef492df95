import Foundation
import HalcyonNetwork
import HalcyonSystem

/// The text of a URL, with the facts about it that look-ups need, found in one pass over its bytes: a URL takes long to state
/// them by its parts.
struct URLText {
    let text: String
    /// Whether the URL is one of the web with a host and no user, in the usual form.
    let isPlainWeb: Bool
    /// Whether a user may stand in it.
    let mayHaveUser: Bool
    private let hasFragment: Bool
    private let mayNameScale: Bool

    init(_ url: URL) {
        var text = url.absoluteString
        (isPlainWeb, mayHaveUser, hasFragment, mayNameScale) = text.withUTF8 { bytes in
            let scheme = bytes.starts(with: "https://") ? 8 : bytes.starts(with: "http://") ? 7 : 0
            // With an "@", the host stands elsewhere.
            let hasAt = bytes.contains(byte: UInt8(ascii: "@"))
            let isWeb = scheme > 0 && bytes.count > scheme && Self.isLetterOrDigit(bytes[scheme])
            return (
                isWeb && !hasAt, hasAt, bytes.contains(byte: UInt8(ascii: "#")),
                hasAt || bytes.contains(byte: UInt8(ascii: "%"))
            )
        }
        self.text = text
    }

    var withoutFragment: String { hasFragment ? URL.withoutFragment(text) : text }

    /// The scale in the name: 2 for `photo@2x.png`, 3 for `photo@3x.png`, otherwise 1.
    var namedScale: Double { mayNameScale ? ImageScale.named(in: text) : 1 }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
