import HalcyonNetwork
import HalcyonSystem

/// A network whose connection and cost a test controls.
///
/// Waits do not use a clock: they end when the test brings the network back or calls `giveUp()`.
public final class ScriptedNetworkMonitor: NetworkMonitor {
    private struct State {
        var status: NetworkStatus
        var lastID = 0
        var waiters: [Int: CheckedContinuation<Bool, any Error>] = [:]
        var limits: [Duration] = []
        var watchers: [(count: Int, gate: ScriptedTransportGate)] = []
    }

    private let state: Lock<State>

    /// Creates a monitor with a status; online and not constrained by default.
    public init(_ status: NetworkStatus = NetworkStatus()) {
        state = Lock(State(status: status))
    }

    /// The network's status. Setting an online status resumes all waiters.
    public var status: NetworkStatus {
        get { state.withLock { $0.status } }
        set {
            let waiters = state.withLock { state -> [CheckedContinuation<Bool, any Error>] in
                state.status = newValue
                guard newValue.isOnline else { return [] }
                defer { state.waiters = [:] }
                return Array(state.waiters.values)
            }
            for waiter in waiters { waiter.resume(returning: true) }
        }
    }

    /// The limits of all waits so far, in order.
    public var limits: [Duration] { state.withLock { $0.limits } }

    /// The number of current waiters.
    public var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Ends all current waits, as if their limits had passed.
    public func giveUp() {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: false) }
    }

    /// Returns once at least `count` waiters wait.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func waitForWaiters(_ count: Int = 1) async throws {
        let gate = state.withLock { state -> ScriptedTransportGate? in
            guard state.waiters.count < count else { return nil }
            let gate = ScriptedTransportGate()
            state.watchers.append((count, gate))
            return gate
        }
        try await gate?.wait()
    }

    public func waitForNetwork(limit: Duration) async throws -> Bool {
        let id = state.withLock { state in
            state.limits.append(limit)
            state.lastID += 1
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { enter(id, $0) }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.resume(throwing: CancellationError())
        }
    }

    private func enter(_ id: Int, _ continuation: CheckedContinuation<Bool, any Error>) {
        var gates: [ScriptedTransportGate] = []
        let answer = state.withLock { state -> Result<Bool, any Error>? in
            if Task.isCancelled { return .failure(CancellationError()) }
            if state.status.isOnline { return .success(true) }
            state.waiters[id] = continuation
            let count = state.waiters.count
            gates = state.watchers.filter { $0.count <= count }.map(\.gate)
            state.watchers.removeAll { $0.count <= count }
            return nil
        }
        if let answer { continuation.resume(with: answer) }
        for gate in gates { gate.open() }
    }
}
