import Foundation
import HalcyonSystem

/// A growing body: in memory at first, in a partial body of the store once it is large.
///
/// If the store fails because the disk is full or broken, the body continues in memory, within the limit that its size
/// has anyway. The download ends only if the bytes that were already written cannot be read back.
struct BodySpool {
    /// The number of unwritten bytes, 1 MiB, from which they are written. A body that never has as many stays in memory.
    static let batch = 1 << 20
    /// The smallest partial body to keep, 16 KiB: fewer bytes are faster to request again than to find.
    static let minimumKept = 16 << 10

    private let store: (any PartialBodyStore)?
    private let key: PartialBodyKey?
    private let head: HTTPResponseHead
    private let keptRecord: PartialBodyRecord?
    private let shown: ReceivedBody?
    private var file: (any PartialBody)?
    private var pending = Data()
    private var reserved = 0
    /// The index of the first chunk in `shown` that is not yet written.
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

    /// The record to keep with the beginning of the body if the transfer breaks off; nil if the body cannot be resumed.
    private var record: PartialBodyRecord? {
        key == nil || store == nil ? nil : keptRecord ?? PartialBodyRecord(head)
    }

    /// All bytes so far; nil once some are on the disk.
    var beginning: Data? { file == nil ? pending : nil }

    /// Reserves memory for the declared length, up to a limit: the server's word alone is not trusted for more. Beyond
    /// it the buffer grows as bytes arrive.
    mutating func reserve(_ count: Int) {
        reserved = min(count, store == nil ? 16 << 20 : Self.batch)
    }

    /// Shows the bytes that an earlier attempt received.
    mutating func showKept() async throws {
        guard let shown, let file, file.count > 0 else { return }
        let bytes = try await onDisk { try file.bytes(0..<file.count) }
        shown.append(bytes)
        firstPendingChunk = shown.count
    }

    mutating func append(_ piece: Data) {
        if pending.isEmpty {
            // A small body often arrives in one piece and need not be copied then.
            pending = piece.startIndex == 0 ? piece : Data(piece)
        } else {
            if pending.count < reserved { pending.reserveCapacity(reserved) }
            pending.append(piece)
        }
        shown?.append(piece)
    }

    /// Writes the pending bytes once there are enough of them.
    ///
    /// - Throws: `DownloadError`, `CancellationError`.
    mutating func spill() async throws {
        guard store != nil, pending.count >= Self.batch else { return }
        try await write()
    }

    /// Returns the whole body.
    ///
    /// - Throws: `DownloadError`, `CancellationError`.
    mutating func finish() async throws -> Data {
        guard file != nil else { return pending }
        if !pending.isEmpty { try await write() }
        guard let file else { return pending }
        let bytes = try await onDisk { try file.finish() }
        self.file = nil
        return bytes
    }

    /// Ends a body that will not be completed.
    ///
    /// - Parameter keeps: Whether its bytes can serve as the beginning of a later attempt's body.
    mutating func abandon(keeps: Bool) async {
        let (file, pending, store, key, record) = (file, pending, store, key, record)
        self.file = nil
        self.pending = Data()
        let isKept = keeps && record != nil && (file?.count ?? 0) + pending.count >= Self.minimumKept
        guard file != nil || isKept else { return }
        let work: @Sendable (WorkContext) -> Void = { _ in
            guard isKept, let body = try? file ?? store?.make(for: key, record) else { return file?.discard() ?? () }
            // If the append fails, the bytes before it are still valid.
            if !pending.isEmpty { try? body.append(pending) }
            body.keep()
        }
        // Detached: this method is often called because its task was cancelled.
        await Task.detached { _ = try? await ThreadPools.io.run(work) }.value
    }

    private mutating func write() async throws {
        let (bytes, file, store, key, record) = (pending, file, store, key, record)
        do {
            let body = try await ThreadPools.io.run { _ -> (any PartialBody)? in
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

    /// Replaces the chunks that readers see by the written bytes, so that they do not stay in memory as well.
    private mutating func showWritten(_ count: Int, of body: any PartialBody) async {
        guard let shown else { return }
        let range = (body.count - count)..<body.count
        // If it fails, they stay in memory.
        if let bytes = try? await ThreadPools.io.run({ _ in try body.bytes(range) }) {
            shown.replace(from: firstPendingChunk, with: bytes)
        }
        firstPendingChunk = shown.count
    }

    private mutating func goOnInMemory() async throws {
        if let file {
            let written = try await onDisk {
                let bytes = try file.bytes(0..<file.count)
                // A copy, as the file that holds the bytes is discarded.
                let copy = bytes.withUnsafeBytes { Data($0) }
                file.discard()
                return copy
            }
            self.file = nil
            pending = written + pending
        }
        // The store is not tried again for this body.
        self = BodySpool(inMemory: pending, head: head, shown: shown)
    }

    private init(inMemory bytes: Data, head: HTTPResponseHead, shown: ReceivedBody?) {
        (store, key, keptRecord) = (nil, nil, nil)
        self.head = head
        self.shown = shown
        pending = bytes
    }

    /// Runs work that may block for the disk.
    ///
    /// - Throws: `DownloadError` with `.connection(.exhausted)` if the work fails, `CancellationError`.
    private func onDisk<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        do {
            return try await ThreadPools.io.run { _ in try work() }
        } catch let error as CancellationError {
            throw error
        } catch {
            throw DownloadError(.connection(.exhausted), url: head.url)
        }
    }
}
