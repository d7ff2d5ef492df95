/// A caller's hold on work that it has given to a `ThreadPool`: it can still raise its priority or call it off.
package final class WorkTicket: Sendable {
    struct State {
        var priority: RequestPriority
        var isCancelled = false
        /// What to tell when either changes; set while the work waits or runs.
        var onCancel: (@Sendable () -> Void)?
        /// Called under the lock, so that changes arrive in their order: it must not reach for the ticket.
        var onPriorityChange: (@Sendable (RequestPriority) -> Void)?
    }

    let state: Lock<State>

    package init(priority: RequestPriority = .normal) {
        state = Lock(State(priority: priority))
    }

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    package var priority: RequestPriority {
        get { state.withLock { $0.priority } }
        set {
            state.withLock { state in
                guard state.priority != newValue else { return }
                state.priority = newValue
                state.onPriorityChange?(newValue)
            }
        }
    }

    /// Work that waits ends at once with `CancellationError`; work that runs sees `WorkContext.isCancelled`.
    package func cancel() {
        let tell = state.withLock { state -> (@Sendable () -> Void)? in
            state.isCancelled = true
            defer { state.onCancel = nil }
            return state.onCancel
        }
        tell?()
    }

    package var context: WorkContext { WorkContext { self.isCancelled } }
}

/// What a piece of long work (a decode, a processor) is told about its surroundings: whether anybody still wants it.
///
/// Ask every few rows: the answer costs about 25 ns.
public struct WorkContext: Sendable {
    private let cancelled: @Sendable () -> Bool

    package init(isCancelled: @escaping @Sendable () -> Bool) {
        cancelled = isCancelled
    }

    /// For work that nobody will cancel.
    public static let uncancellable = WorkContext { false }

    /// Whether the last one who waited for this work has left. On a thread of the library's own this never returns once the
    /// program is ending.
    public var isCancelled: Bool {
        ProgramEnd.stopWork()
        return cancelled()
    }

    /// Throws `CancellationError` once nobody wants the result any more.
    public func checkCancellation() throws {
        if isCancelled { throw CancellationError() }
    }
}
