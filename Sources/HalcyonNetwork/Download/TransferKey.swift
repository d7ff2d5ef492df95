import Foundation

/// What makes two downloads the same transfer: all that the server sees, and the bounds it runs within.
///
/// The bounds are in it so that nobody gets the limits of whoever happened to ask first. The priority is not: the
/// highest one counts.
struct TransferKey: Hashable {
    let url: String
    let headers: HTTPHeaders
    /// The others are among the fields.
    let digest: DigestCredential?
    let timeouts: DownloadTimeouts
    let maximumBytes: Int
    let maximumRedirects: Int
    let retry: RetryPolicy
    let hooks: RequestHooks?
    let bodyBudget: ObjectIdentifier?

    init(_ request: DownloadRequest, headers: HTTPHeaders, retry: RetryPolicy) {
        url = request.url.withoutFragment
        self.headers = headers
        digest = request.credential?.digest
        timeouts = request.timeouts
        maximumBytes = request.maximumBytes
        maximumRedirects = request.maximumRedirects
        self.retry = retry
        hooks = request.hooks
        bodyBudget = request.bodyBudget.map(ObjectIdentifier.init)
    }

    static func == (left: TransferKey, right: TransferKey) -> Bool {
        left.url == right.url && left.digest == right.digest && left.timeouts == right.timeouts
            && left.maximumBytes == right.maximumBytes && left.maximumRedirects == right.maximumRedirects
            && left.retry == right.retry && left.hooks == right.hooks && left.bodyBudget == right.bodyBudget
            && (left.headers == right.headers || ordered(left.headers) == ordered(right.headers))
    }

    /// The order of different fields means nothing; that of one field's values does, and the sort is stable.
    private static func ordered(_ headers: HTTPHeaders) -> [HTTPHeaders.Field] {
        headers.fields.map { ($0.name.lowercased(), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Of the URL alone: few transfers of one URL differ in the rest, and a key is hashed for each of their steps.
    func hash(into hasher: inout Hasher) {
        hasher.combine(url)
    }
}

extension URL {
    /// The part that a server is asked for.
    var withoutFragment: String {
        let text = absoluteURL.absoluteString
        // By bytes: characters take many times as long, and this is asked at several steps of each transfer.
        return text.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(text[..<$0]) } ?? text
    }
}
