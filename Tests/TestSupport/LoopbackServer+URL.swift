import Foundation

extension URL {
    /// A URL that a test spells out; stops the test when it is none.
    public init(web text: String) {
        guard let url = URL(string: text) else { preconditionFailure("not a URL: \(text)") }
        self = url
    }
}
