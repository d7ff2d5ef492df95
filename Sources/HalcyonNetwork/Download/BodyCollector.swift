import Foundation

/// Gathers a body from its chunks: unpacked, within the limit, and complete.
struct BodyCollector {
    /// What is unpacked in one go, in bytes on the wire. It can become a thousand times as much.
    private static let sliceSize = 16 * 1024

    let hasBody: Bool
    private let head: HTTPResponseHead
    private let limit: Int
    private let body: ReceivedBody?
    /// Bytes on the wire: their number as declared, and as counted.
    private let expected: Int?
    private var received = 0
    private var data = Data()
    private let unpacker: BodyUnpacker?

    /// - Parameters:
    ///   - limit: the most bytes, on the wire and unpacked.
    ///   - body: where the bytes are shown as they come.
    init(_ head: HTTPResponseHead, limit: Int, body: ReceivedBody?) {
        self.head = head
        self.limit = limit
        self.body = body
        hasBody = head.status != 204 && head.status != 304
        expected = hasBody ? head.contentLength : nil
        // A part of a packed body cannot be unpacked by itself.
        unpacker = hasBody && head.status != 206 ? BodyUnpacker(codings: head.contentCodings, limit: limit) : nil
        // Only so much on a server's word; beyond it the buffer grows as bytes come.
        if unpacker == nil { data.reserveCapacity(min(expected ?? 0, 16 << 20)) }
    }

    var progress: DownloadProgress { DownloadProgress(received: received, expected: expected, body: body) }

    mutating func take(_ chunk: Data) async throws {
        guard chunk.count <= limit - received else { throw failure(.tooLarge(limit: limit)) }
        received += chunk.count
        guard let unpacker else { return append(chunk) }
        var rest = chunk
        while !rest.isEmpty {
            try unpack(rest.prefix(Self.sliceSize), with: unpacker)
            rest = rest.dropFirst(Self.sliceSize)
            // What a small chunk becomes may be much, and the thread belongs to others too.
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    func finish() throws -> Data {
        if let expected, received < expected {
            throw failure(.incompleteBody(received: received, expected: expected))
        }
        guard unpacker?.isComplete ?? true else { throw failure(.incompleteBody(received: received, expected: nil)) }
        return data
    }

    private mutating func unpack(_ slice: Data, with unpacker: BodyUnpacker) throws {
        do {
            try unpacker.unpack(slice) { append($0) }
        } catch let error as Inflater.Failure {
            switch error {
            case .broken: throw failure(.connection(.badEncoding))
            case .tooLarge: throw failure(.tooLarge(limit: limit))
            case .noMemory: throw failure(.connection(.exhausted))
            }
        }
    }

    private mutating func append(_ piece: Data) {
        data.append(piece)
        body?.append(piece)
    }

    private func failure(_ reason: DownloadError.Reason) -> DownloadError {
        DownloadError(reason, url: head.url, responseHeaders: head.headers)
    }
}
