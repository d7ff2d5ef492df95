import Glibc

/// The subscribers of a `SystemMemoryPressure`, and the thread that watches for them.
final class PressureWatch: Sendable {
    private struct State {
        var subscribers: [Int: @Sendable (MemoryPressure) -> Void] = [:]
        var lastID = 0
        /// A counter of the threads. A thread whose end of the pair has been closed may still be ending.
        var run = 0
        /// The descriptor whose closing ends the thread; nil while there is no thread.
        var wake: Int32?
    }

    private let state = Lock(State())
    private let root: String
    private let interval: Duration
    private let repeatAfter: Duration
    private let onEnd: @Sendable () -> Void

    init(root: String, interval: Duration, repeatAfter: Duration, onEnd: @escaping @Sendable () -> Void) {
        self.root = root
        self.interval = interval
        self.repeatAfter = repeatAfter
        self.onEnd = onEnd
    }

    func add(_ body: @escaping @Sendable (MemoryPressure) -> Void) -> Int {
        state.withLock { state in
            state.lastID += 1
            state.subscribers[state.lastID] = body
            if state.wake == nil { start(&state) }
            return state.lastID
        }
    }

    func remove(_ id: Int) {
        let body = state.withLock { state in
            let body = state.subscribers.removeValue(forKey: id)
            if state.subscribers.isEmpty, let wake = state.wake {
                close(wake)
                state.wake = nil
            }
            return body
        }
        withExtendedLifetime(body) {}
    }

    /// Starts the thread. Without descriptors or threads nothing is watched; the next subscriber tries again.
    private func start(_ state: inout State) {
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { return }
        let (ours, theirs) = (pair[0], pair[1])
        state.run += 1
        let run = state.run
        let isStarted = WorkerThread.start(name: "halcyon-memory") {
            var probe = PressureProbe(
                root: self.root, wake: theirs, interval: self.interval, repeatAfter: self.repeatAfter)
            while let step = probe.next() { self.deliver(step, run: run) }
            probe.close()
            self.onEnd()
        }
        if isStarted {
            state.wake = ours
        } else {
            close(ours)
            close(theirs)
        }
    }

    private func deliver(_ step: MemoryPressure, run: Int) {
        let bodies = state.withLock { state in
            state.run == run && state.wake != nil ? Array(state.subscribers.values) : []
        }
        for body in bodies { body(step) }
    }
}
