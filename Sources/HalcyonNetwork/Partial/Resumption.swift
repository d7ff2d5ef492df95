import Foundation
import HalcyonSystem

/// An attempt that requests the rest of a partial body.
struct Resumption: Sendable {
    private let kept: KeptBody
    let offset: Int

    /// The meaning of a response for the partial body.
    enum Verdict {
        /// The response has the rest; the head is that of the whole body, as a 200 would have it.
        case rest(HTTPResponseHead)
        /// The rest is not available, and the response does not have the whole body either.
        case refused
        /// The response answers the request as it was without the range; the partial body is useless from now on if `isOver`.
        case other(isOver: Bool)
    }

    /// Takes the partial body that is kept for a request from the store; nil if there is none.
    init?(_ request: TransportRequest, _ downloader: ImageDownloader) async {
        guard let (store, key) = downloader.resumption(of: request), store.mayHold(key)
        else { return nil }
        let taken = try? await ThreadPools.io.run { _ in store.take(key) }
        guard let kept = taken ?? nil else { return nil }
        (self.kept, offset) = (kept, kept.body.count)
    }

    /// Returns the request, changed to request the rest.
    func asking(_ request: TransportRequest) -> TransportRequest {
        var request = request
        request.headers.set("Range", "bytes=\(offset)-")
        request.headers.set("If-Range", kept.record.validator)
        // A part of a compressed body cannot be decompressed.
        request.headers.set("Accept-Encoding", "identity")
        return request
    }

    func verdict(_ head: HTTPResponseHead) -> Verdict {
        switch head.status {
        case 206: whole(head).map { .rest($0) } ?? .refused
        case 416: .refused
        // These may concern the range alone: if the body were put back, they would come again for as long as it is kept.
        case 400, 403, 405, 406, 412, 500, 501: .refused
        case 200, 204, 304, 404, 410: .other(isOver: true)
        default: .other(isOver: false)
        }
    }

    /// Returns the head of the whole body; nil if the part is not the rest of the partial body.
    private func whole(_ head: HTTPResponseHead) -> HTTPResponseHead? {
        let record = kept.record
        guard head.headers.values(of: "Content-Range").count == 1,
            let range = head.headers["Content-Range"].flatMap(ContentRange.init), range.first == offset,
            let total = range.total ?? record.total, range.last == total - 1, record.total ?? total == total,
            head.contentLength ?? (total - offset) == total - offset, head.contentCodings.isEmpty
        else { return nil }
        // A server that does not respect `If-Range` may send the rest of another body.
        if record.validator.hasPrefix("\"") {
            guard head.headers["ETag"] ?? record.validator == record.validator else { return nil }
        } else {
            guard head.headers["Last-Modified"] ?? record.validator == record.validator else { return nil }
        }
        var whole = head
        whole.status = 200
        // A partial response may lack fields that came with the beginning.
        whole.headers = record.headers.merging(head.headers)
        whole.headers.remove("Content-Range")
        whole.headers.set("Content-Length", "\(total)")
        return whole
    }

    /// Returns the partial body, updated with the head of the whole body, to be continued.
    func takeOver(_ whole: HTTPResponseHead) -> KeptBody {
        let record = kept.record.updated(total: whole.contentLength ?? offset, headers: whole.headers)
        return KeptBody(record: record, body: kept.body)
    }

    /// Returns the partial body to the store, for a later attempt.
    func putBack() async {
        await end { $0.keep() }
    }

    func discard() async {
        await end { $0.discard() }
    }

    private func end(_ work: @escaping @Sendable (any PartialBody) -> Void) async {
        let body = kept.body
        // Detached: a cancellation of this task would keep the work from running.
        await Task.detached { _ = try? await ThreadPools.io.run { _ in work(body) } }.value
    }
}

extension ImageDownloader {
    /// Returns the store and the key for the body of a request whose transfer breaks off; nil if the body is not kept.
    func resumption(of request: TransportRequest) -> (store: any PartialBodyStore, key: PartialBodyKey)? {
        guard configuration.resumesBodies, let store = configuration.partialBodies,
            let key = PartialBodyKey(request, user: transportUser(for: request.url))
        else { return nil }
        return (store, key)
    }
}

/// The range of a body that a `Content-Range` field names: `bytes 500-999/1000`.
struct ContentRange: Equatable {
    let first: Int
    let last: Int
    /// The length of the whole body in bytes; nil if it is unknown.
    let total: Int?

    /// Parses a field's value; nil for anything else, including a range that contradicts itself.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            last < Int.max
        else { return nil }
        let total = Self.number(parts[1])
        guard parts[1] == "*" || total.map({ last < $0 }) ?? false else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int(text)
    }
}
