import Foundation

/// Gathers a body from its chunks: unpacked, within the limit, and complete.
struct BodyCollector {
    /// The most that is unpacked at once, in bytes on the wire and in steps of 64 KiB: a body that is packed several times
    /// can become gigabytes.
    private static let sliceSize = 16 * 1024
    private static let stepsAtOnce = 16

    let hasBody: Bool
    private let head: HTTPResponseHead
    private let limit: Int
    private let body: ReceivedBody?
    /// Bytes on the wire: their number as declared, and as counted.
    private let expected: Int?
    private var received = 0
    private var spool: BodySpool
    /// Whether what arrives is the rest of a body that broke off.
    private let isRest: Bool
    private let unpacker: BodyUnpacker?

    /// - Parameters:
    ///   - head: of the whole body, also where only the rest of it comes.
    ///   - limit: the most bytes, on the wire and unpacked.
    ///   - body: where the bytes are shown as they come.
    ///   - key: what the body is kept by where it breaks off; nil for one that is not kept.
    ///   - kept: what came of it before.
    ///   - store: where large bodies go.
    init(
        _ head: HTTPResponseHead, limit: Int, body: ReceivedBody?, key: PartialBodyKey? = nil, kept: KeptBody? = nil,
        store: (any PartialBodyStore)? = nil
    ) {
        self.head = head
        self.limit = limit
        self.body = body
        hasBody = head.status != 204 && head.status != 304
        expected = hasBody ? head.contentLength : nil
        // A part of a packed body cannot be unpacked by itself.
        unpacker = hasBody && head.status != 206 ? BodyUnpacker(codings: head.contentCodings, limit: limit) : nil
        spool = BodySpool(head, key: key, kept: kept, store: store, shown: body)
        received = kept?.body.count ?? 0
        isRest = kept != nil
        if unpacker == nil { spool.reserve(max(0, (expected ?? 0) - received)) }
    }

    var progress: DownloadProgress { DownloadProgress(received: received, expected: expected, body: body) }

    /// To be called first: shows what came of the body before.
    mutating func begin() async throws {
        try await spool.showKept()
    }

    mutating func take(_ chunk: Data) async throws {
        guard chunk.count <= limit - received else { throw failure(.tooLarge(limit: limit)) }
        received += chunk.count
        guard let unpacker else {
            spool.append(chunk)
            return try await spool.spill()
        }
        var rest = chunk
        while !rest.isEmpty {
            unpacker.feed(rest.prefix(Self.sliceSize))
            rest = rest.dropFirst(Self.sliceSize)
            var isDone = false
            while !isDone {
                isDone = try unpack(with: unpacker)
                try await spool.spill()
                // The thread belongs to others too.
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    mutating func finish() async throws -> Data {
        // What goes on elsewhere than it should end is no body at all.
        if let expected, isRest ? received != expected : received < expected {
            throw failure(.incompleteBody(received: received, expected: expected))
        }
        guard unpacker?.isComplete ?? true else { throw failure(.incompleteBody(received: received, expected: nil)) }
        return try await spool.finish()
    }

    /// The body ends here, with an error.
    mutating func abandon(after error: any Error) async {
        await spool.abandon(keeps: Self.mayGoOn(after: error) && expected.map { received < $0 } ?? true)
    }

    /// Whether it was the way that failed, and not what came over it.
    private static func mayGoOn(after error: any Error) -> Bool {
        guard let error = error as? DownloadError else { return error is CancellationError }
        return switch error.reason {
        case .connection(.badEncoding), .connection(.badAnswer), .connection(.transferEncoding),
            .connection(.exhausted):
            false
        case .connection, .timeout, .offline, .incompleteBody, .tls: true
        default: false
        }
    }

    /// - Returns: whether all that came is unpacked.
    private mutating func unpack(with unpacker: BodyUnpacker) throws -> Bool {
        do {
            for _ in 0..<Self.stepsAtOnce {
                switch try unpacker.step() {
                case .piece(let piece): spool.append(piece)
                case .working: break
                case .done: return true
                }
            }
            return false
        } catch let error as Inflater.Failure {
            switch error {
            case .broken: throw failure(.connection(.badEncoding))
            case .tooLarge: throw failure(.tooLarge(limit: limit))
            case .noMemory: throw failure(.connection(.exhausted))
            }
        }
    }

    private func failure(_ reason: DownloadError.Reason) -> DownloadError {
        DownloadError(reason, url: head.url, responseHeaders: head.headers)
    }
}
