import Foundation

extension URL {
    /// The URL's text without its fragment, which is not sent to servers.
    package var withoutFragment: String {
        let text = absoluteString
        // By bytes: characters take many times as long, and this is called at several steps of each load.
        return text.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(text[..<$0]) } ?? text
    }
}
