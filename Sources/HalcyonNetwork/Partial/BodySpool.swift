import Foundation
import HalcyonSystem

/// A body as it grows: in memory at first, in a partial body of the store as soon as it is large.
///
/// Where the store fails, on a full or broken disk, the body goes on in memory, within the limit that its bytes have
/// anyway; only when what was written cannot be read again either does the download end.
struct BodySpool {
    /// Bytes that wait to be written. A body that never has as many stays in memory.
    static let batch = 1 << 20
    /// Fewer bytes are sooner asked for again than found.
    static let fewestKept = 16 << 10

    private let store: (any PartialBodyStore)?
    private let key: PartialBodyKey?
    private let head: HTTPResponseHead
    private let keptRecord: PartialBodyRecord?
    private let shown: ReceivedBody?
    private var file: (any PartialBody)?
    private var pending = Data()
    private var reserved = 0
    /// The first chunk that is shown and waits to be written.
    private var firstPendingChunk = 0

    init(
        _ head: HTTPResponseHead, key: PartialBodyKey?, kept: KeptBody?, store: (any PartialBodyStore)?,
        shown: ReceivedBody?
    ) {
        self.store = store
        self.key = key
        self.shown = shown
        self.head = head
        keptRecord = kept?.record
        file = kept?.body
    }

    /// What is kept with the beginning of the body, if it breaks off; nil where it cannot be gone on with.
    private var record: PartialBodyRecord? {
        key == nil || store == nil ? nil : keptRecord ?? PartialBodyRecord(head)
    }

    /// Only so much on a server's word; beyond it the buffer grows as bytes come.
    mutating func reserve(_ count: Int) {
        reserved = min(count, store == nil ? 16 << 20 : Self.batch)
    }

    /// Shows the bytes that an earlier attempt brought.
    mutating func showKept() async throws {
        guard let shown, let file, file.count > 0 else { return }
        let bytes = try await onDisk { try file.bytes(0..<file.count) }
        shown.append(bytes)
        firstPendingChunk = shown.count
    }

    mutating func append(_ piece: Data) {
        if pending.isEmpty {
            // A small body often comes in one piece, and need not be copied then.
            pending = piece.startIndex == 0 ? piece : Data(piece)
        } else {
            if pending.count < reserved { pending.reserveCapacity(reserved) }
            pending.append(piece)
        }
        shown?.append(piece)
    }

    /// Writes what waits, once that is much.
    ///
    /// - Throws: `DownloadError`, `CancellationError`.
    mutating func spill() async throws {
        guard store != nil, pending.count >= Self.batch else { return }
        try await write()
    }

    /// - Throws: `DownloadError`, `CancellationError`.
    mutating func finish() async throws -> Data {
        guard file != nil else { return pending }
        if !pending.isEmpty { try await write() }
        guard let file else { return pending }
        let bytes = try await onDisk { try file.finish() }
        self.file = nil
        return bytes
    }

    /// The body comes no further.
    ///
    /// - Parameter keeps: whether it is any good as the beginning of a later attempt's.
    mutating func abandon(keeps: Bool) async {
        let (file, pending, store, key, record) = (file, pending, store, key, record)
        self.file = nil
        self.pending = Data()
        let isKept = keeps && record != nil && (file?.count ?? 0) + pending.count >= Self.fewestKept
        guard file != nil || isKept else { return }
        let work: @Sendable (WorkContext) -> Void = { _ in
            guard isKept, let body = try? file ?? store?.make(for: key, record) else { return file?.discard() ?? () }
            // What could not be written is not there; what was before it is good.
            if !pending.isEmpty { try? body.append(pending) }
            body.keep()
        }
        // Not of this task: that it was cancelled is often why this is called.
        await Task.detached { _ = try? await ExecutionDomains.io.run(work) }.value
    }

    private mutating func write() async throws {
        let (bytes, file, store, key, record) = (pending, file, store, key, record)
        do {
            let body = try await ExecutionDomains.io.run { _ -> (any PartialBody)? in
                let body = try file ?? store?.make(for: record == nil ? nil : key, record)
                do {
                    try body?.append(bytes)
                } catch  where file == nil {
                    body?.discard()
                    throw error
                }
                return body
            }
            guard let body else { return }
            self.file = body
            pending = Data()
            await showWritten(bytes.count, of: body)
        } catch let error as CancellationError {
            throw error
        } catch {
            try await goOnInMemory()
        }
    }

    /// Has the readers' chunks, too, lie where the body does.
    private mutating func showWritten(_ count: Int, of body: any PartialBody) async {
        guard let shown else { return }
        let range = (body.count - count)..<body.count
        // Without it they stay in memory.
        if let bytes = try? await ExecutionDomains.io.run({ _ in try body.bytes(range) }) {
            shown.replace(from: firstPendingChunk, with: bytes)
        }
        firstPendingChunk = shown.count
    }

    private mutating func goOnInMemory() async throws {
        if let file {
            let written = try await onDisk {
                let bytes = try file.bytes(0..<file.count)
                // A copy: what it lies in goes.
                let copy = bytes.withUnsafeBytes { Data($0) }
                file.discard()
                return copy
            }
            self.file = nil
            pending = written + pending
        }
        // Not tried again for this body.
        self = BodySpool(inMemory: pending, head: head, shown: shown)
    }

    private init(inMemory bytes: Data, head: HTTPResponseHead, shown: ReceivedBody?) {
        (store, key, keptRecord) = (nil, nil, nil)
        self.head = head
        self.shown = shown
        pending = bytes
    }

    /// - Throws: `DownloadError` with `.connection(.exhausted)` where the disk fails, `CancellationError`.
    private func onDisk<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        do {
            return try await ExecutionDomains.io.run { _ in try work() }
        } catch let error as CancellationError {
            throw error
        } catch {
            throw DownloadError(.connection(.exhausted), url: head.url)
        }
    }
}
