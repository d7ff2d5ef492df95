import Foundation
import HalcyonNetwork
import HalcyonSystem

/// A transport without a network: it gives the scripted answers for each URL, and records the requests.
///
/// It uses no clock: a delayed answer waits at a `ScriptedTransportGate`. A URL without a script is answered with
/// status 404 by default.
public final class ScriptedTransport: Transport {
    private struct State {
        var scripts: [String: [Answer]] = [:]
        var requests: [TransportRequest] = []
        var cancelled: [URL] = []
        var watchers: [(isMet: @Sendable (Int, Int) -> Bool, gate: ScriptedTransportGate)] = []
    }

    private let state = Lock(State())
    private let fallback: @Sendable (TransportRequest) -> Answer

    /// - Parameter fallback: Answers the URLs that have no script.
    public init(fallback: @escaping @Sendable (TransportRequest) -> Answer = { _ in .status(404) }) {
        self.fallback = fallback
    }

    // MARK: Scripting

    /// Scripts the answers for a URL, one for each request; the last one is repeated. A user in the URL is ignored,
    /// as a downloader sends it as a credential.
    public func answer(_ url: URL, with answers: Answer...) {
        state.withLock { $0.scripts[Self.name(of: url)] = answers }
    }

    private static func name(of url: URL) -> String { (url.hasUser ? url.withoutUser : url).absoluteString }

    // MARK: Looking back

    /// All requests, in the order in which they arrived.
    public var requests: [TransportRequest] { state.withLock { $0.requests } }

    /// The number of requests so far.
    public var requestCount: Int { state.withLock { $0.requests.count } }

    /// Returns the requests for one URL.
    public func requests(for url: URL) -> [TransportRequest] {
        state.withLock { $0.requests.filter { Self.name(of: $0.url) == Self.name(of: url) } }
    }

    /// The URLs whose transfers were cancelled or dropped before their end.
    public var cancelled: [URL] { state.withLock { $0.cancelled } }

    /// Waits until at least `count` requests have arrived.
    public func waitForRequests(_ count: Int) async throws {
        try await wait { requests, _ in requests >= count }
    }

    /// Waits until at least `count` transfers have been cancelled.
    public func waitForCancellations(_ count: Int) async throws {
        try await wait { _, cancelled in cancelled >= count }
    }

    private func wait(until isMet: @escaping @Sendable (Int, Int) -> Bool) async throws {
        let gate = ScriptedTransportGate()
        change { $0.watchers.append((isMet, gate)) }
        // Removes the watcher of a cancelled wait; a completed one is already removed.
        defer { state.withLock { $0.watchers.removeAll { $0.gate === gate } } }
        try await gate.wait()
    }

    /// The number of waits for requests or cancellations.
    package var watcherCount: Int { state.withLock { $0.watchers.count } }

    private func change<Result>(_ body: (inout State) -> Result) -> Result {
        let (result, met) = state.withLock { state in
            let result = body(&state)
            let (requests, cancelled) = (state.requests.count, state.cancelled.count)
            let met = state.watchers.filter { $0.isMet(requests, cancelled) }
            state.watchers.removeAll { $0.isMet(requests, cancelled) }
            return (result, met)
        }
        for watcher in met { watcher.gate.open() }
        return result
    }

    // MARK: Transport

    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        try request.validate()
        try checkAbilities(for: request)
        let scripted = change { state -> Answer? in
            state.requests.append(request)
            guard var answers = state.scripts[Self.name(of: request.url)], let answer = answers.first else {
                return nil
            }
            if answers.count > 1 {
                answers.removeFirst()
                state.scripts[Self.name(of: request.url)] = answers
            }
            return answer
        }
        let answer = scripted ?? fallback(request)
        do {
            try await answer.headGate?.wait()
            try Task.checkCancellation()
        } catch {
            change { $0.cancelled.append(request.url) }
            throw error
        }
        if let failure = answer.failure { throw failure }
        let body = ScriptedTransportBody(answer.steps) { [self] in
            change { $0.cancelled.append(request.url) }
        }
        let head = HTTPResponseHead(url: request.url, status: answer.status, headers: answer.headers)
        return TransportResponse(
            head: head,
            body: TransportBody(next: { try await body.next() }, cancel: { body.cancel() }, metrics: { body.metrics }))
    }
}

extension ScriptedTransport {
    /// The answer to one request: a head, then the steps of the body.
    public struct Answer: Sendable {
        /// A step of the body; the body ends after the last one.
        public enum Step: Sendable {
            /// Some bytes of the body.
            case chunk(Data)
            /// A wait until the gate opens.
            case wait(ScriptedTransportGate)
            /// A failure of the transfer.
            case fail(any Error)
        }

        /// The HTTP status.
        public var status: Int
        /// The header fields of the response.
        public var headers: HTTPHeaders
        /// The steps of the body, in order.
        public var steps: [Step]
        /// The gate that the head waits at.
        public var headGate: ScriptedTransportGate?
        /// The error that is thrown instead of a head.
        public var failure: (any Error)?

        /// Creates an answer; omitted arguments make an empty body with status 200.
        public init(
            status: Int = 200, headers: HTTPHeaders = HTTPHeaders(), steps: [Step] = [],
            headGate: ScriptedTransportGate? = nil, failure: (any Error)? = nil
        ) {
            self.status = status
            self.headers = headers
            self.steps = steps
            self.headGate = headGate
            self.failure = failure
        }

        /// Returns an answer with a whole body and its length.
        public static func data(_ data: Data, status: Int = 200, headers: HTTPHeaders = HTTPHeaders()) -> Answer {
            var all: HTTPHeaders = ["Content-Length": "\(data.count)"]
            all = all.merging(headers)
            return Answer(status: status, headers: all, steps: data.isEmpty ? [] : [.chunk(data)])
        }

        /// Returns an answer with a status and no body.
        public static func status(_ status: Int, headers: HTTPHeaders = HTTPHeaders()) -> Answer {
            Answer(status: status, headers: headers)
        }

        /// Returns a redirect.
        public static func redirect(_ status: Int = 302, to location: String) -> Answer {
            Answer(status: status, headers: ["Location": location])
        }

        /// Returns an answer that fails without a head.
        public static func failure(_ error: any Error) -> Answer {
            Answer(failure: error)
        }

        /// Returns this answer with a head that waits at a gate.
        public func held(by gate: ScriptedTransportGate) -> Answer {
            var copy = self
            copy.headGate = gate
            return copy
        }
    }
}

/// The body of a scripted answer, which takes a step for each chunk that is requested.
final class ScriptedTransportBody: Sendable {
    private enum Phase {
        case running
        case ended(Result<Void, any Error>)
    }

    private struct State {
        var steps: Fifo<ScriptedTransport.Answer.Step>
        var phase = Phase.running
        var received = 0
        /// The task that waits at a gate, so that a cancellation from another thread reaches it.
        var waiting: Task<Void, any Error>?
    }

    private let state: Lock<State>
    private let onCancel: @Sendable () -> Void

    init(_ steps: [ScriptedTransport.Answer.Step], onCancel: @escaping @Sendable () -> Void) {
        var queue = Fifo<ScriptedTransport.Answer.Step>()
        for step in steps { queue.append(step) }
        state = Lock(State(steps: queue))
        self.onCancel = onCancel
    }

    var metrics: TransportMetrics? {
        state.withLock { state in
            guard case .ended(.success) = state.phase else { return nil }
            return TransportMetrics(bytesReceived: state.received)
        }
    }

    func next() async throws -> Data? {
        while true {
            if Task.isCancelled { cancel() }
            switch try take() {
            case nil: return nil
            case .chunk(let data): return data
            case .fail(let error):
                state.withLock { $0.phase = .ended(.failure(error)) }
                throw error
            case .wait(let gate): try await wait(at: gate)
            }
        }
    }

    func cancel() {
        let (isFirst, waiting) = state.withLock { state -> (Bool, Task<Void, any Error>?) in
            guard case .running = state.phase else { return (false, nil) }
            state.phase = .ended(.failure(CancellationError()))
            return (true, state.waiting)
        }
        waiting?.cancel()
        if isFirst { onCancel() }
    }

    private func take() throws -> ScriptedTransport.Answer.Step? {
        try state.withLock { state in
            if case .ended(let result) = state.phase {
                try result.get()
                return nil
            }
            let step = state.steps.popFirst()
            switch step {
            case .chunk(let data): state.received += data.count
            case nil: state.phase = .ended(.success(()))
            default: break
            }
            // The end is known with the last byte: dropping a body that was read to its end does not cancel it.
            if case .chunk = step, state.steps.isEmpty { state.phase = .ended(.success(())) }
            return step
        }
    }

    private func wait(at gate: ScriptedTransportGate) async throws {
        let task = Task { try await gate.wait() }
        let isCancelled = state.withLock { state in
            state.waiting = task
            if case .ended = state.phase { return true }
            return false
        }
        if isCancelled { task.cancel() }
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            cancel()
        }
        state.withLock { $0.waiting = nil }
    }
}
