import Foundation
import HalcyonSystem

/// An attempt that asks for the rest of a body.
struct Resumption: Sendable {
    private let kept: KeptBody
    let offset: Int

    /// What an answer means for what is kept.
    enum Verdict {
        /// The rest comes: the head of the whole, as a 200 would have it.
        case rest(HTTPResponseHead)
        /// The rest cannot be had, and the whole was not sent either.
        case refused
        /// The answer is one to the request as it was without this; what is kept is of no more use if `isOver`.
        case other(isOver: Bool)
    }

    /// Takes what is kept of the answer to a request; nil where there is nothing.
    init?(_ request: TransportRequest, _ downloader: ImageDownloader) async {
        guard let (store, key) = downloader.resumption(of: request), store.mayHold(key)
        else { return nil }
        let taken = try? await ExecutionDomains.io.run { _ in store.take(key) }
        guard let kept = taken ?? nil else { return nil }
        (self.kept, offset) = (kept, kept.body.count)
    }

    /// The request, for the rest.
    func asking(_ request: TransportRequest) -> TransportRequest {
        var request = request
        request.headers.set("Range", "bytes=\(offset)-")
        request.headers.set("If-Range", kept.record.validator)
        // A part of a packed body cannot be unpacked.
        request.headers.set("Accept-Encoding", "identity")
        return request
    }

    func verdict(_ head: HTTPResponseHead) -> Verdict {
        switch head.status {
        case 206: whole(head).map { .rest($0) } ?? .refused
        case 416: .refused
        // What may be said of the range alone: put back, it would be said again for as long as the beginning is kept.
        case 400, 403, 405, 406, 412, 500, 501: .refused
        case 200, 204, 304, 404, 410: .other(isOver: true)
        default: .other(isOver: false)
        }
    }

    /// The head that the whole body has; nil where the part is not the rest of what is kept.
    private func whole(_ head: HTTPResponseHead) -> HTTPResponseHead? {
        let record = kept.record
        guard head.headers.values(of: "Content-Range").count == 1,
            let range = head.headers["Content-Range"].flatMap(ContentRange.init), range.first == offset,
            let total = range.total ?? record.total, range.last == total - 1, record.total ?? total == total,
            head.contentLength ?? (total - offset) == total - offset, head.contentCodings.isEmpty
        else { return nil }
        // A server that does not keep to `If-Range` may send the rest of another body.
        if record.validator.hasPrefix("\"") {
            guard head.headers["ETag"] ?? record.validator == record.validator else { return nil }
        } else {
            guard head.headers["Last-Modified"] ?? record.validator == record.validator else { return nil }
        }
        var whole = head
        whole.status = 200
        // A part may come without the fields that came with the beginning.
        whole.headers = record.headers.merging(head.headers)
        whole.headers.remove("Content-Range")
        whole.headers.set("Content-Length", "\(total)")
        return whole
    }

    /// What is kept, to be gone on with.
    func takeOver(_ whole: HTTPResponseHead) -> KeptBody {
        let record = kept.record.updated(total: whole.contentLength ?? offset, headers: whole.headers)
        return KeptBody(record: record, body: kept.body)
    }

    /// Back to where it was taken from: another attempt may want it.
    func putBack() async {
        await end { $0.keep() }
    }

    func discard() async {
        await end { $0.discard() }
    }

    private func end(_ work: @escaping @Sendable (any PartialBody) -> Void) async {
        let body = kept.body
        // Not of this task, whose cancellation would keep it from running.
        await Task.detached { _ = try? await ExecutionDomains.io.run { _ in work(body) } }.value
    }
}

extension ImageDownloader {
    /// Where the body of a request is kept if it breaks off, and by which key; nil where it is not kept.
    func resumption(of request: TransportRequest) -> (store: any PartialBodyStore, key: PartialBodyKey)? {
        guard configuration.resumesBodies, let store = configuration.partialBodies,
            let key = PartialBodyKey(request, user: transportUser(for: request.url))
        else { return nil }
        return (store, key)
    }
}
