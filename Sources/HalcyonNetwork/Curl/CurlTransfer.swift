import Foundation
import HalcyonSystem

/// A transfer shared by its two sides: the task that waits and reads, and the curl thread that delivers.
///
/// It delivers a head, chunks and an end. All of its data is in one locked state, and the code that resumes a waiting
/// continuation takes it out of that state first, so that it is resumed once. The easy handle is not here: it belongs
/// to the curl thread.
///
/// Everything that arrives in one turn of the curl thread is delivered at the turn's end: small responses arrive
/// completely within one, and waking a task for each of head, chunk and end costs more than all the work of libcurl for
/// them.
final class CurlTransfer: Sendable {
    /// The next item for a reader.
    enum Chunk {
        case bytes(Data)
        case end
        case failure(any Error)

        /// Returns the bytes, as a body passes them on: nil at the end.
        func get() throws -> Data? {
            switch self {
            case .bytes(let data): data
            case .end: nil
            case .failure(let error): throw error
            }
        }
    }

    // No `Result`, which is generic: looking up its metadata took as long as everything else here.
    private struct State {
        var headWaiter: CheckedContinuation<HTTPResponseHead, any Error>?
        var chunkWaiter: CheckedContinuation<Data?, any Error>?
        /// The head that has arrived and was not fetched yet.
        var head: HTTPResponseHead?
        /// The declared length of a small body of which nothing has arrived yet; 0 for any other.
        var smallBody = 0
        /// The bytes that have arrived and were not read yet.
        var buffer = Data()
        /// Bytes that arrived after the buffer while the transfer was paused; in pieces, since a single block would be
        /// copied as it grows.
        var backlog: [Data] = []
        /// Whether the curl thread was told to stop delivering.
        var isPaused = false
        /// Whether the transfer has ended. Set once; the rest of the buffer is still read before a reader sees the end.
        var hasEnded = false
        /// The error with which it ended; nil after a success.
        var failure: (any Error)?
        var metrics: TransportMetrics?
    }

    /// The instruction to the curl thread for the bytes that it offers.
    enum Reception {
        case taken, pause
    }

    let request: TransportRequest
    private let loop: CurlLoop
    private let state = Lock(State())

    init(request: TransportRequest, loop: CurlLoop) {
        self.request = request
        self.loop = loop
    }

    var configuration: CurlTransport.Configuration { loop.configuration }
    var metrics: TransportMetrics? { state.withLock { $0.metrics } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    var isPaused: Bool { state.withLock { $0.isPaused } }

    // MARK: The waiting task

    func start(waiter: CheckedContinuation<HTTPResponseHead, any Error>) {
        let refusal = state.withLock { state -> (any Error)? in
            // The cancellation handler has already set the end, or will run later and find the waiter.
            if let error = state.failure { return error }
            state.headWaiter = waiter
            return nil
        }
        if let refusal { return waiter.resume(throwing: refusal) }
        if !loop.post(.start(self)) {
            finish(DownloadError(.connection(.exhausted), url: request.url), metrics: nil)
            settle()
        }
    }

    /// Returns the next chunk, or the end, if it is available.
    func takeReady() -> Chunk? {
        let (ready, wasPaused) = state.withLock { state in
            // Bytes that have arrived since belong to the reader that is already waiting.
            state.chunkWaiter == nil ? Self.takeReady(&state) : (nil, false)
        }
        if wasPaused { loop.post(.resume(self)) }
        return ready
    }

    func pull(waiter: CheckedContinuation<Data?, any Error>) {
        let (ready, wasPaused) = state.withLock { state -> (Chunk?, Bool) in
            guard state.chunkWaiter == nil else {
                let misuse = DownloadError(.invalidRequest("the body has two readers"), url: request.url)
                return (.failure(misuse), false)
            }
            let (ready, wasPaused) = Self.takeReady(&state)
            if ready != nil { return (ready, wasPaused) }
            state.chunkWaiter = waiter
            return (nil, false)
        }
        if wasPaused { loop.post(.resume(self)) }
        if let ready { ReaderAnswer(waiter: waiter, chunk: ready).resume() }
    }

    private static func takeReady(_ state: inout State) -> (chunk: Chunk?, wasPaused: Bool) {
        guard state.buffer.isEmpty else {
            let chunk = state.buffer
            state.buffer = state.backlog.isEmpty ? Data() : state.backlog.removeFirst()
            guard state.buffer.isEmpty else { return (.bytes(chunk), false) }
            defer { state.isPaused = false }
            return (.bytes(chunk), state.isPaused && !state.hasEnded)
        }
        guard state.hasEnded else { return (nil, false) }
        return (state.failure.map { .failure($0) } ?? .end, false)
    }

    /// Ends the transfer unless it has ended; unread bytes are dropped either way.
    func cancel() {
        enum Effect { case none, told, stopped }
        let effect = state.withLock { state -> Effect in
            // A transfer that has ended and was read to its end stays successful; a part must not pass for the whole.
            if state.hasEnded, state.buffer.isEmpty, state.headWaiter == nil { return .none }
            defer { (state.head, state.buffer, state.backlog, state.hasEnded) = (nil, Data(), [], true) }
            state.failure = CancellationError()
            return state.hasEnded ? .told : .stopped
        }
        guard effect != .none else { return }
        settle()
        if effect == .stopped { loop.post(.cancel(self)) }
    }

    // MARK: The curl thread

    /// Stores the head until the end of the turn.
    func deliver(_ head: HTTPResponseHead) {
        let length = head.contentLength ?? 0
        state.withLock { ($0.head, $0.smallBody) = (head, length <= CurlTransport.chunkSize ? length : 0) }
    }

    /// Stores bytes until the end of the turn.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Reception {
        let (reception, reader) = state.withLock { state -> (Reception, ReaderAnswer?) in
            // The bytes are no longer wanted; the command to remove the transfer is on its way.
            guard !state.hasEnded else { return (.taken, nil) }
            guard let reader = Self.fill(&state, bytes) else {
                state.isPaused = true
                return (.pause, nil)
            }
            return (.taken, reader)
        }
        reader?.resume()
        return reception
    }

    /// Stores bytes of a paused transfer. If its reader has already read everything, the command to resume is on its way.
    func hold(_ bytes: UnsafeRawBufferPointer) {
        let reader = state.withLock { state -> ReaderAnswer? in
            guard !state.hasEnded else { return nil }
            if let reader = Self.fill(&state, bytes) { return reader }
            state.isPaused = true
            if let last = state.backlog.indices.last, state.backlog[last].count < CurlTransport.bufferLimit {
                state.backlog[last].append(contentsOf: bytes)
            } else {
                var piece = Data(capacity: CurlTransport.bufferLimit + bytes.count)
                piece.append(contentsOf: bytes)
                state.backlog.append(piece)
            }
            return nil
        }
        reader?.resume()
    }

    /// Adds bytes to the buffer. A waiting reader is served once there are many bytes, so that it works in parallel.
    ///
    /// - Returns: Nil if there is no room, else the reader to be served now, if any.
    private static func fill(_ state: inout State, _ bytes: UnsafeRawBufferPointer) -> ReaderAnswer?? {
        guard state.backlog.isEmpty, state.buffer.count < CurlTransport.bufferLimit else { return nil }
        if state.smallBody > bytes.count {
            // Room for the whole of it, which mostly arrives at once, so that it is not copied as the buffer grows.
            state.buffer = Data(capacity: state.smallBody)
        }
        state.smallBody = 0
        state.buffer.append(contentsOf: bytes)
        guard state.buffer.count >= CurlTransport.chunkSize else { return .some(nil) }
        return .some(takeReader(&state))
    }

    /// Ends the transfer; its waiters are resumed at the end of the turn.
    ///
    /// - Parameter failure: The error; nil if the transfer is complete.
    func finish(_ failure: (any Error)?, metrics: TransportMetrics?) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            (state.hasEnded, state.failure, state.metrics) = (true, failure, metrics)
        }
    }

    /// Ends the turn: resumes the waiters for which something has arrived.
    func settle() {
        let (head, reader) = state.withLock { (Self.takeHead(&$0, url: request.url), Self.takeReader(&$0)) }
        head?.resume()
        reader?.resume()
    }

    // MARK: Waiters

    private struct HeadAnswer {
        let waiter: CheckedContinuation<HTTPResponseHead, any Error>
        let head: HTTPResponseHead?
        let error: (any Error)?
        let url: URL

        func resume() {
            if let head { return waiter.resume(returning: head) }
            // An end without a head: libcurl accepted a response that has none.
            waiter.resume(throwing: error ?? DownloadError(.connection(.badAnswer), url: url))
        }
    }

    private struct ReaderAnswer {
        let waiter: CheckedContinuation<Data?, any Error>
        let chunk: Chunk

        func resume() {
            switch chunk {
            case .bytes(let data): waiter.resume(returning: data)
            case .end: waiter.resume(returning: nil)
            case .failure(let error): waiter.resume(throwing: error)
            }
        }
    }

    private static func takeHead(_ state: inout State, url: URL) -> HeadAnswer? {
        guard let waiter = state.headWaiter, state.head != nil || state.hasEnded else { return nil }
        defer { (state.headWaiter, state.head) = (nil, nil) }
        return HeadAnswer(waiter: waiter, head: state.head, error: state.failure, url: url)
    }

    /// Takes the reader that can be served. The buffer was empty when the reader came, and stays smaller than a chunk
    /// until it is served, so the transfer is not paused here.
    private static func takeReader(_ state: inout State) -> ReaderAnswer? {
        guard let waiter = state.chunkWaiter, let chunk = takeReady(&state).chunk else { return nil }
        state.chunkWaiter = nil
        return ReaderAnswer(waiter: waiter, chunk: chunk)
    }
}
