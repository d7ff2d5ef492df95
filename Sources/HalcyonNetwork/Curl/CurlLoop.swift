import CCurl
import CHalcyonCurl
import HalcyonSystem

/// A queue of commands from any thread to the curl thread, which wakes that thread for them.
final class CurlLoop: Sendable {
    enum Command: Sendable {
        case start(CurlTransfer)
        /// Resumes a transfer whose reader has made room.
        case resume(CurlTransfer)
        case cancel(CurlTransfer)
    }

    enum Next {
        case commands([Command])
        case stop
    }

    private enum Phase {
        case idle, running, ended
    }

    private struct State {
        var phase = Phase.idle
        var commands: [Command] = []
        var isStopping = false
        var multi: CurlMulti?
    }

    private let state = Lock(State())
    let configuration: CurlTransport.Configuration
    private let onThreadEnd: @Sendable () -> Void

    init(_ configuration: CurlTransport.Configuration, onThreadEnd: @escaping @Sendable () -> Void) {
        self.configuration = configuration
        self.onThreadEnd = onThreadEnd
    }

    /// Queues a command and wakes the thread, which the first transfer starts. Returns false if no thread can be started.
    @discardableResult
    func post(_ command: Command) -> Bool {
        state.withLock { state in
            switch state.phase {
            case .ended:
                return false
            case .idle:
                guard case .start = command else { return true }
                guard let multi = CurlMulti(configuration), startThread(multi) else { return false }
                state.multi = multi
                state.phase = .running
            case .running:
                break
            }
            // One wake-up suffices for all commands that are queued before the thread reads them.
            if state.commands.isEmpty { state.multi?.wake() }
            state.commands.append(command)
            return true
        }
    }

    /// Ends the thread once the last transfer has ended. No transfer can be started after this.
    func stopWhenIdle() {
        state.withLock { state in
            state.isStopping = true
            state.multi?.wake()
        }
    }

    /// Returns the next commands to the thread; `stop` only if it has no transfers left.
    func next(hasTransfers: Bool) -> Next {
        state.withLock { state in
            if !state.commands.isEmpty {
                defer { state.commands = [] }
                return .commands(state.commands)
            }
            guard state.isStopping, !hasTransfers else { return .commands([]) }
            // From here on the handle, which the thread is about to free, is not woken.
            state.phase = .ended
            state.multi = nil
            return .stop
        }
    }

    private func startThread(_ multi: CurlMulti) -> Bool {
        WorkerThread.start(name: "halcyon-net") { [onThreadEnd] in
            let worker = CurlWorker(multi: multi, loop: self)
            worker.run()
            onThreadEnd()
        }
    }
}
