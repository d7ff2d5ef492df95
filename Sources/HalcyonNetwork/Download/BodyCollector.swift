import Foundation
import HalcyonSystem

/// A collector that builds a body from its chunks: decompressed, within the size limit, and complete.
struct BodyCollector {
    /// The most compressed bytes that are decompressed at once; with `stepsAtOnce`, the number of pieces of 64 KiB. A
    /// body that is compressed several times can become gigabytes.
    private static let sliceSize = 16 * 1024
    private static let stepsAtOnce = 16

    let hasBody: Bool
    private let head: HTTPResponseHead
    private let limit: Int
    private let body: ReceivedBody?
    /// The number of transferred bytes: as declared, and as received so far.
    private let expected: Int?
    private var received = 0
    private var spool: BodySpool
    /// Whether the arriving bytes are the rest of a body whose transfer broke off.
    private let isRest: Bool
    private let unpacker: BodyUnpacker?
    private var watch: BeginningWatch

    /// Creates a collector.
    ///
    /// - Parameters:
    ///   - head: The head of the whole body, even if only the rest of it arrives.
    ///   - limit: The largest size in bytes, both as transferred and decompressed.
    ///   - body: The object that shows the bytes as they arrive.
    ///   - beginning: The check of the first bytes.
    ///   - key: The key by which the body is kept if the transfer breaks off; nil for one that is not kept.
    ///   - kept: The part of the body that an earlier attempt received.
    ///   - store: The store for large bodies.
    init(
        _ head: HTTPResponseHead, limit: Int, body: ReceivedBody?, beginning: BeginningCheck? = nil,
        key: PartialBodyKey? = nil, kept: KeptBody? = nil, store: (any PartialBodyStore)? = nil
    ) {
        self.head = head
        self.limit = limit
        self.body = body
        hasBody = head.status != 204 && head.status != 304
        expected = hasBody ? head.contentLength : nil
        // A part of a compressed body cannot be decompressed by itself.
        unpacker = hasBody && head.status != 206 ? BodyUnpacker(codings: head.contentCodings, limit: limit) : nil
        spool = BodySpool(head, key: key, kept: kept, store: store, shown: body)
        received = kept?.body.count ?? 0
        isRest = kept != nil
        // A part that the request asks for need not be the first one.
        watch = BeginningWatch(head.status == 206 ? nil : beginning)
        if unpacker == nil { spool.reserve(max(0, (expected ?? 0) - received)) }
    }

    var progress: DownloadProgress { DownloadProgress(received: received, expected: expected, body: body) }

    /// Shows the bytes that an earlier attempt received. To be called first.
    mutating func begin() async throws {
        try await spool.showKept()
    }

    mutating func take(_ chunk: Data) async throws {
        guard chunk.count <= limit - received else { throw failure(.tooLarge(limit: limit)) }
        received += chunk.count
        guard let unpacker else {
            spool.append(chunk)
            try look()
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
                // Other tasks need the thread too.
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    mutating func finish() async throws -> Data {
        // A resumed body that does not end exactly at the declared length is invalid.
        if let expected, isRest ? received != expected : received < expected {
            throw failure(.incompleteBody(received: received, expected: expected))
        }
        guard unpacker?.isComplete ?? true else { throw failure(.incompleteBody(received: received, expected: nil)) }
        return try await spool.finish()
    }

    /// Ends the body after an error.
    mutating func abandon(after error: any Error) async {
        await spool.abandon(keeps: Self.mayGoOn(after: error) && expected.map { received < $0 } ?? true)
    }

    /// Returns whether the body can be resumed after an error: the connection failed, and not the content.
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

    /// Decompresses some pieces.
    ///
    /// - Returns: Whether all bytes that have arrived are decompressed.
    private mutating func unpack(with unpacker: BodyUnpacker) throws -> Bool {
        do {
            for _ in 0..<Self.stepsAtOnce {
                switch try unpacker.step() {
                case .piece(let piece):
                    spool.append(piece)
                    try look()
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

    /// Lets the check see the bytes so far.
    private mutating func look() throws {
        do {
            try watch.see(spool.beginning)
        } catch {
            throw DownloadError(
                .refused("the first bytes: \(error.reason)"), url: head.url, responseHeaders: head.headers,
                underlying: error)
        }
    }

    private func failure(_ reason: DownloadError.Reason) -> DownloadError {
        DownloadError(reason, url: head.url, responseHeaders: head.headers)
    }
}
