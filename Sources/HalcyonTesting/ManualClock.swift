import Foundation
import HalcyonSystem

/// A clock that stands still until a test advances it.
public final class ManualClock: Sendable {
    private struct Sleeper {
        let end: Date
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Date
        var lastID = 0
        var sleepers: [Int: Sleeper] = [:]
        /// The tests that wait for a number of sleepers.
        var watchers: [(count: Int, gate: ScriptedTransportGate)] = []
    }

    private let state: Lock<State>

    /// Creates a clock that starts at a moment; by default in the middle of a second in November 2023.
    public init(_ start: Date = Date(timeIntervalSince1970: 1_700_000_000.5)) {
        state = Lock(State(now: start))
    }

    /// The clock's time. It may also be set back; a sleeper whose time has come resumes.
    public var now: Date {
        get { state.withLock { $0.now } }
        set { set { _ in newValue } }
    }

    /// Advances the clock, or sets it back by a negative duration.
    public func advance(by duration: Duration) {
        set { $0 + duration.inSeconds }
    }

    /// The clock as a time source for caches, both for reading the time and for waiting.
    public var timeSource: TimeSource {
        TimeSource({ self.now }, wait: { try await self.wait(for: $0) })
    }

    /// Returns once at least `count` sleepers wait for this clock, so that a test does not advance it too early.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func waitForSleepers(_ count: Int = 1) async throws {
        let gate = state.withLock { state -> ScriptedTransportGate? in
            guard state.sleepers.count < count else { return nil }
            let gate = ScriptedTransportGate()
            state.watchers.append((count, gate))
            return gate
        }
        try await gate?.wait()
    }

    private func set(_ change: (Date) -> Date) {
        let due = state.withLock { state -> [Sleeper] in
            state.now = change(state.now)
            let due = state.sleepers.filter { $0.value.end <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.sorted { $0.end < $1.end }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    private func wait(for duration: Duration) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { sleep(id, for: duration.inSeconds, $0) }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func sleep(_ id: Int, for seconds: TimeInterval, _ continuation: CheckedContinuation<Void, any Error>) {
        var gates: [ScriptedTransportGate] = []
        let result = state.withLock { state -> Result<Void, any Error>? in
            // The sleeper is stored before the cancellation handler runs: a cancellation is either seen here or finds
            // the sleeper.
            if Task.isCancelled { return .failure(CancellationError()) }
            guard seconds > 0 else { return .success(()) }
            state.sleepers[id] = Sleeper(end: state.now + seconds, continuation: continuation)
            let count = state.sleepers.count
            gates = state.watchers.filter { $0.count <= count }.map(\.gate)
            state.watchers.removeAll { $0.count <= count }
            return nil
        }
        if let result { continuation.resume(with: result) }
        for gate in gates { gate.open() }
    }
}
