import Foundation

extension URL {
    /// The part that a server is asked for.
    package var withoutFragment: String {
        let text = absoluteString
        // By bytes: characters take many times as long, and this is asked at several steps of each load.
        return text.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(text[..<$0]) } ?? text
    }
}
