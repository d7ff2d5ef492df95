/// A caller's handle of work that waits or runs, such as a download: it changes the priority, and cancels the work.
///
/// It may be given to work that begins later, and to several pieces of work. Other callers that share the work are not
/// affected: the highest of their priorities counts, and the work ends only when the last of them leaves.
public final class WorkTicket: Sendable {
    private struct State {
        var priority: RequestPriority
        var isCancelled = false
        var listeners: [any WorkTicketListener] = []
    }

    private let state: Lock<State>

    /// Creates a ticket for work that begins later.
    public init(priority: RequestPriority = .normal) {
        state = Lock(State(priority: priority))
    }

    /// The priority, which overrides that of a request.
    public var priority: RequestPriority {
        get { state.withLock { $0.priority } }
        set {
            let listeners = state.withLock { state -> [any WorkTicketListener] in
                guard state.priority != newValue else { return [] }
                state.priority = newValue
                return state.listeners
            }
            for listener in listeners { listener.priorityChanged(of: self) }
        }
    }

    /// Whether it was cancelled.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels the work, which ends with `CancellationError`: at once if it waits or begins later, and as soon as it checks
    /// for it (`WorkContext.isCancelled`) if it runs on a thread of the library.
    public func cancel() {
        let listeners = state.withLock { state in
            defer { (state.isCancelled, state.listeners) = (true, []) }
            return state.listeners
        }
        for listener in listeners { listener.cancelled() }
    }

    package var context: WorkContext { WorkContext { self.isCancelled } }

    /// Adds a listener until it is removed. Returns false, without keeping it, if the ticket is already cancelled.
    package func add(_ listener: any WorkTicketListener) -> Bool {
        state.withLock { state in
            guard !state.isCancelled else { return false }
            state.listeners.append(listener)
            return true
        }
    }

    package func remove(_ listener: any WorkTicketListener) {
        let removed = state.withLock { state in
            state.listeners.firstIndex { $0 === listener }.map { state.listeners.remove(at: $0) }
        }
        // Freed outside of the lock.
        withExtendedLifetime(removed) {}
    }
}

/// A piece of work that follows a ticket. It is called by whoever changes the ticket, outside of the ticket's lock.
package protocol WorkTicketListener: AnyObject, Sendable {
    /// The ticket was cancelled. This is called at most once.
    func cancelled()
    /// The priority has changed. Of two changes at the same time either may be the last to be notified, so the listener reads
    /// the ticket's priority under a lock of its own.
    func priorityChanged(of ticket: WorkTicket)
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
