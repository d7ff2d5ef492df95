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

/// The multi handle of libcurl, and the data that its transfers share.
///
/// `@unchecked Sendable` because `wake` is the one call that libcurl allows on any thread, and only the curl thread
/// makes the others.
final class CurlMulti: @unchecked Sendable {
    let handle: UnsafeMutableRawPointer
    /// The share handle; nil if there was no memory for it.
    let share: UnsafeMutableRawPointer?
    /// The turn counter that the connections use; they are closed with the handle.
    let turns: UnsafeMutablePointer<halcyon_curl_turns>

    /// Initializes libcurl, once in a process and before its first use.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Creates the handle; nil if there is no memory or no file descriptor for it. Without a descriptor libcurl makes a
    /// handle without a wake-up, whose thread would notice each new transfer and each cancellation a minute late.
    init?(_ configuration: CurlTransport.Configuration) {
        guard Self.isReady, let handle = halcyon_curl_multi() else { return nil }
        self.handle = handle
        turns = .allocate(capacity: 1)
        turns.initialize(to: halcyon_curl_turns())
        share = halcyon_curl_share(configuration.keepsCookies)
        halcyon_curl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, configuration.idleConnections)
    }

    deinit {
        curl_multi_cleanup(handle)
        if let share { curl_share_cleanup(share) }
        turns.deallocate()
    }

    /// Starts a turn, in which each connection may again be read up to its limit.
    func beginTurn() {
        turns.pointee.number += 1
    }

    /// Ends the current wait of the curl thread, or its next one.
    func wake() {
        curl_multi_wakeup(handle)
    }
}
