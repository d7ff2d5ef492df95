import Foundation
import HalcyonSystem

/// One transfer as its two sides see it: the task that waits and reads, and the curl thread that delivers.
///
/// Its life is head, chunks, end. All of it is in one locked state, and a waiting continuation is taken out of that
/// state by whoever resumes it, so that it is resumed once. The easy handle is not here: it belongs to the curl thread.
final class CurlTransfer: Sendable {
    private struct State {
        var headWaiter: CheckedContinuation<HTTPResponseHead, any Error>?
        var chunkWaiter: CheckedContinuation<Data?, any Error>?
        /// What has arrived and was not read yet.
        var buffer = Data()
        /// The curl thread was told to deliver no more.
        var isPaused = false
        /// Set once; what is in the buffer is still read before it shows.
        var end: Result<Void, any Error>?
        var metrics: TransportMetrics?
    }

    /// What the curl thread is to do with bytes that it holds out.
    enum Reception {
        case taken, pause
    }

    let request: TransportRequest
    let configuration: CurlTransport.Configuration
    private let loop: CurlLoop
    private let state = Lock(State())

    init(request: TransportRequest, configuration: CurlTransport.Configuration, loop: CurlLoop) {
        self.request = request
        self.configuration = configuration
        self.loop = loop
    }

    var metrics: TransportMetrics? { state.withLock { $0.metrics } }
    var hasEnded: Bool { state.withLock { $0.end != nil } }

    // MARK: The waiting side

    func start(waiter: CheckedContinuation<HTTPResponseHead, any Error>) {
        let refusal = state.withLock { state -> (any Error)? in
            // The cancellation's handler has set the end, or is yet to come and will find the waiter.
            if case .failure(let error)? = state.end { return error }
            state.headWaiter = waiter
            return nil
        }
        if let refusal { return waiter.resume(throwing: refusal) }
        if !loop.post(.start(self)) {
            finish(.failure(DownloadError(.connection(.exhausted), url: request.url)), metrics: nil)
        }
    }

    /// The next chunk, or the end, where it is known.
    func takeReady() -> Result<Data?, any Error>? {
        let (ready, wasPaused) = state.withLock { Self.takeReady(&$0) }
        if wasPaused { loop.post(.resume(self)) }
        return ready
    }

    func pull(waiter: CheckedContinuation<Data?, any Error>) {
        let (ready, wasPaused) = state.withLock { state -> (Result<Data?, any Error>?, Bool) in
            let (ready, wasPaused) = Self.takeReady(&state)
            if ready != nil { return (ready, wasPaused) }
            guard state.chunkWaiter == nil else {
                let misuse = DownloadError(.invalidRequest("the body has two readers"), url: request.url)
                return (.failure(misuse), false)
            }
            state.chunkWaiter = waiter
            return (nil, false)
        }
        if wasPaused { loop.post(.resume(self)) }
        if let ready { waiter.resume(with: ready) }
    }

    private static func takeReady(_ state: inout State) -> (Result<Data?, any Error>?, wasPaused: Bool) {
        guard state.buffer.isEmpty else {
            let chunk = state.buffer
            state.buffer = Data()
            defer { state.isPaused = false }
            return (.success(chunk), state.isPaused && state.end == nil)
        }
        return (state.end.map { $0.map { nil } }, false)
    }

    /// Ends the transfer unless it has ended; what was not read is dropped either way.
    func cancel() {
        guard end(.failure(CancellationError()), metrics: nil, dropsBuffer: true) else { return }
        loop.post(.cancel(self))
    }

    // MARK: The curl thread's side

    func deliver(_ head: HTTPResponseHead) {
        let waiter = state.withLock { state in
            defer { state.headWaiter = nil }
            return state.headWaiter
        }
        waiter?.resume(returning: head)
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Reception {
        var waiter: CheckedContinuation<Data?, any Error>?
        let reception = state.withLock { state -> Reception in
            // Nobody wants them any more; the command to take the transfer out is on its way.
            guard state.end == nil else { return .taken }
            if let waiting = state.chunkWaiter {
                state.chunkWaiter = nil
                waiter = waiting
                return .taken
            }
            guard state.buffer.count < CurlTransport.bufferLimit else {
                state.isPaused = true
                return .pause
            }
            state.buffer.append(contentsOf: bytes)
            return .taken
        }
        waiter?.resume(returning: Data(bytes))
        return reception
    }

    func finish(_ result: Result<Void, any Error>, metrics: TransportMetrics?) {
        _ = end(result, metrics: metrics, dropsBuffer: false)
    }

    /// True when this call ended it.
    private func end(_ result: Result<Void, any Error>, metrics: TransportMetrics?, dropsBuffer: Bool) -> Bool {
        let url = request.url
        let (isFirst, head, chunk) = state.withLock { state in
            if dropsBuffer { state.buffer = Data() }
            guard state.end == nil else {
                return (
                    false, CheckedContinuation<HTTPResponseHead, any Error>?.none,
                    CheckedContinuation<Data?, any Error>?.none
                )
            }
            state.end = result
            state.metrics = metrics
            defer { (state.headWaiter, state.chunkWaiter) = (nil, nil) }
            return (true, state.headWaiter, state.chunkWaiter)
        }
        switch result {
        case .success:
            // An end without a head: libcurl took something for an answer that has none.
            head?.resume(throwing: DownloadError(.connection(.badAnswer), url: url))
            chunk?.resume(returning: nil)
        case .failure(let error):
            head?.resume(throwing: error)
            chunk?.resume(throwing: error)
        }
        return isFirst
    }
}
