import Foundation
import HalcyonSystem

/// One transfer as its two sides see it: the task that waits and reads, and the curl thread that delivers.
///
/// Its life is head, chunks, end. All of it is in one locked state, and a waiting continuation is taken out of that
/// state by whoever resumes it, so that it is resumed once. The easy handle is not here: it belongs to the curl thread.
///
/// What comes in one turn of the curl thread is handed over at the turn's end: small answers come whole within one, and
/// a task that is woken for each of head, chunk and end costs more than all that libcurl does for them.
final class CurlTransfer: Sendable {
    /// What a reader gets next.
    enum Chunk {
        case bytes(Data)
        case end
        case failure(any Error)

        /// As a body hands it on: nil at the end.
        func get() throws -> Data? {
            switch self {
            case .bytes(let data): data
            case .end: nil
            case .failure(let error): throw error
            }
        }
    }

    // No `Result`, which is generic: finding its metadata took as long as all the rest of it.
    private struct State {
        var headWaiter: CheckedContinuation<HTTPResponseHead, any Error>?
        var chunkWaiter: CheckedContinuation<Data?, any Error>?
        /// Has arrived and was not fetched yet.
        var head: HTTPResponseHead?
        /// What has arrived and was not read yet.
        var buffer = Data()
        /// Bytes that arrived behind the buffer while the transfer was paused; pieces, since one block would be copied as
        /// it grows.
        var backlog: [Data] = []
        /// The curl thread was told to deliver no more.
        var isPaused = false
        /// Set once; what is in the buffer is still read before it shows.
        var hasEnded = false
        /// Why it ended, unless all is well.
        var failure: (any Error)?
        var metrics: TransportMetrics?
    }

    /// What the curl thread is to do with bytes that it holds out.
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

    // MARK: The waiting side

    func start(waiter: CheckedContinuation<HTTPResponseHead, any Error>) {
        let refusal = state.withLock { state -> (any Error)? in
            // The cancellation's handler has set the end, or is yet to come and will find the waiter.
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

    /// The next chunk, or the end, where it is known.
    func takeReady() -> Chunk? {
        let (ready, wasPaused) = state.withLock { state in
            // What has come meanwhile is for who waits already.
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

    /// Ends the transfer unless it has ended; what was not read is dropped either way.
    func cancel() {
        enum Effect { case none, told, stopped }
        let effect = state.withLock { state -> Effect in
            // What has ended already and was read to its end stays what it is; a part must not pass for the whole.
            if state.hasEnded, state.buffer.isEmpty, state.headWaiter == nil { return .none }
            defer { (state.head, state.buffer, state.backlog, state.hasEnded) = (nil, Data(), [], true) }
            state.failure = CancellationError()
            return state.hasEnded ? .told : .stopped
        }
        guard effect != .none else { return }
        settle()
        if effect == .stopped { loop.post(.cancel(self)) }
    }

    // MARK: The curl thread's side

    /// Keeps the head for the turn's end.
    func deliver(_ head: HTTPResponseHead) {
        state.withLock { $0.head = head }
    }

    /// Keeps bytes for the turn's end.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Reception {
        let (reception, reader) = state.withLock { state -> (Reception, ReaderAnswer?) in
            // Nobody wants them any more; the command to take the transfer out is on its way.
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

    /// Keeps bytes of a paused transfer, whose reader may have read all: the command to go on is on its way then.
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

    /// A reader that waits gets many bytes at once, so that it works meanwhile.
    ///
    /// - Returns: nil where there is no room; else the reader to be served now, if any.
    private static func fill(_ state: inout State, _ bytes: UnsafeRawBufferPointer) -> ReaderAnswer?? {
        guard state.backlog.isEmpty, state.buffer.count < CurlTransport.bufferLimit else { return nil }
        state.buffer.append(contentsOf: bytes)
        guard state.buffer.count >= CurlTransport.chunkSize else { return .some(nil) }
        return .some(takeReader(&state))
    }

    /// The transfer is over; who waits is told at the turn's end.
    ///
    /// - Parameter failure: nil where all of it came.
    func finish(_ failure: (any Error)?, metrics: TransportMetrics?) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            (state.hasEnded, state.failure, state.metrics) = (true, failure, metrics)
        }
    }

    /// Ends the turn: whoever waits for what has come gets it.
    func settle() {
        let (head, reader) = state.withLock { (Self.takeHead(&$0, url: request.url), Self.takeReader(&$0)) }
        head?.resume()
        reader?.resume()
    }

    // MARK: Who waits, and what for

    private struct HeadAnswer {
        let waiter: CheckedContinuation<HTTPResponseHead, any Error>
        let head: HTTPResponseHead?
        let error: (any Error)?
        let url: URL

        func resume() {
            if let head { return waiter.resume(returning: head) }
            // An end without a head: libcurl took something for an answer that has none.
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

    /// The buffer was empty when the reader came, and stays below a chunk until he is served: nothing is paused here.
    private static func takeReader(_ state: inout State) -> ReaderAnswer? {
        guard let waiter = state.chunkWaiter, let chunk = takeReady(&state).chunk else { return nil }
        state.chunkWaiter = nil
        return ReaderAnswer(waiter: waiter, chunk: chunk)
    }
}
