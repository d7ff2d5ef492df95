import HalcyonSystem

/// A caller's hold on its download: it changes the priority while the transfer waits, and calls it off.
///
/// Other callers that share the transfer are not affected: the highest priority among them counts, and the transfer
/// ends only with the last of them.
public final class DownloadTicket: Sendable {
    struct Listener: Sendable {
        let cancel: @Sendable () -> Void
        /// Reads the ticket's priority: of two setters that cross, the last one called need not be the last that set.
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

    /// The priority; it wins over the request's.
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

    /// Ends the download, now and when it is asked for later, with `CancellationError`.
    public func cancel() {
        let listeners = state.withLock { state -> [Listener] in
            state.isCancelled = true
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.cancel() }
    }

    /// Whether it was called off.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// False when the ticket is cancelled already, and then the listener is not kept.
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
