import Foundation

/// The key of a transfer, equal for downloads that can share it: all that the server sees, and the limits of the transfer.
///
/// The limits are part of it so that no download runs with those of another one that happened to come first. The
/// priority is not: the highest one counts.
struct TransferKey: Hashable {
    let url: String
    let headers: Headers
    /// The digest credential; other credentials are among the fields.
    let digest: DigestCredential?
    let timeouts: DownloadTimeouts?
    let maximumBytes: Int
    let maximumRedirects: Int
    let retry: RetryPolicy
    let hooks: RequestHooks?
    let bodyBudget: ObjectIdentifier?
    let beginning: BeginningCheck?

    init(_ request: DownloadRequest, headers: HTTPHeaders, retry: RetryPolicy) {
        url = request.url.withoutFragment
        self.headers = Headers(all: headers)
        digest = request.credential?.digest
        timeouts = request.timeouts
        maximumBytes = request.maximumBytes
        maximumRedirects = request.maximumRedirects
        self.retry = retry
        hooks = request.hooks
        bodyBudget = request.bodyBudget.map(ObjectIdentifier.init)
        beginning = request.beginning
    }

    /// Hashes the URL alone: few transfers of one URL differ in the rest, and a key is hashed at each of their steps.
    func hash(into hasher: inout Hasher) {
        hasher.combine(url)
    }

    struct Headers: Equatable {
        let all: HTTPHeaders

        static func == (left: Headers, right: Headers) -> Bool {
            left.all == right.all || left.ordered == right.ordered
        }

        /// The fields in a comparable order. The order of different fields has no meaning; that of one field's values
        /// has, and the sort is stable.
        private var ordered: [HTTPHeaders.Field] {
            all.fields.map { ($0.name.lowercased(), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
