/// A caller's handle of work that it has given to a `ThreadPool`: it can change the priority or cancel the work.
package final class WorkTicket: Sendable {
    struct State {
        var priority: RequestPriority
        var isCancelled = false
        /// Called when the work is cancelled; set while the work waits or runs.
        var onCancel: (@Sendable () -> Void)?
        /// Called when the priority changes, under the lock, so that changes arrive in their order: it must not access the
        /// ticket.
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

    /// Cancels the work. Work that waits ends at once with `CancellationError`; running work sees `WorkContext.isCancelled`.
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

/// The context of a piece of long work (a decode, a processor), which tells whether its result is still wanted.
///
/// Check it every few rows: a check costs about 25 ns.
public struct WorkContext: Sendable {
    private let cancelled: @Sendable () -> Bool

    package init(isCancelled: @escaping @Sendable () -> Bool) {
        cancelled = isCancelled
    }

    /// A context for work that is never cancelled.
    public static let uncancellable = WorkContext { false }

    /// Whether the last subscriber of this work has cancelled. On a thread of the library's own this never returns once the
    /// program is ending.
    public var isCancelled: Bool {
        ProgramEnd.stopWork()
        return cancelled()
    }

    /// Throws `CancellationError` once the result is no longer wanted.
    public func checkCancellation() throws(CancellationError) {
        if isCancelled { throw CancellationError() }
    }
}
