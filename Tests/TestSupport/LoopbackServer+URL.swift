import Foundation

extension URL {
    /// A URL from a literal text; traps if the text is not a URL.
    public init(web text: String) {
        guard let url = URL(string: text) else { preconditionFailure("not a URL: \(text)") }
        self = url
    }
}
