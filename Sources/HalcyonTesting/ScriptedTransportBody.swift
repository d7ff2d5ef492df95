import Foundation
import HalcyonNetwork
import HalcyonSystem

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
