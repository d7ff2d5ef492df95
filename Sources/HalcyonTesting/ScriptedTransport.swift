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
