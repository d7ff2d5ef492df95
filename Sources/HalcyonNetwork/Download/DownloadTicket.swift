import HalcyonSystem

/// A caller's handle of its download, which changes the priority while the transfer waits, and cancels the download.
///
/// Other callers that share the transfer are not affected: the highest of their priorities counts, and the transfer
/// ends only when the last of them leaves.
public final class DownloadTicket: Sendable {
    struct Listener: Sendable {
        let cancel: @Sendable () -> Void
        /// Makes the listener read the ticket's priority: of two concurrent changes, the last notification need not
        /// belong to the last value.
        let priorityDidChange: @Sendable () -> Void
    }

    private struct State {
        var priority: RequestPriority
        var isCancelled = false
        var listeners: [Int: Listener] = [:]
    }

    private let state: Lock<State>

    public init(priority: RequestPriority = .normal) {
        state = Lock(State(priority: priority))
    }

    /// The priority, which overrides that of the request.
    public var priority: RequestPriority {
        get { state.withLock { $0.priority } }
        set {
            let listeners = state.withLock { state -> [Listener] in
                guard state.priority != newValue else { return [] }
                state.priority = newValue
                return Array(state.listeners.values)
            }
            for listener in listeners { listener.priorityDidChange() }
        }
    }

    /// Cancels the download, whether it is running or starts later, with `CancellationError`.
    public func cancel() {
        let listeners = state.withLock { state -> [Listener] in
            state.isCancelled = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.cancel() }
    }

    /// Whether it was cancelled.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Adds a listener. Returns false, without keeping it, if the ticket is already cancelled.
    func attach(_ id: Int, _ listener: Listener) -> Bool {
        state.withLock { state in
            guard !state.isCancelled else { return false }
            state.listeners[id] = listener
            return true
        }
    }

    func detach(_ id: Int) {
        state.withLock { $0.listeners[id] = nil }
    }
}
