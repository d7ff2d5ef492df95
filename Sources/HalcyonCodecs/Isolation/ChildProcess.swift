import CHalcyonWorker
import Foundation
import HalcyonSystem

/// A process that this one has started, until it has been waited for.
///
/// It is held by a descriptor: its number alone may be another's once it has ended, if the program waits for all of its children or
/// ignores their ends.
final class ChildProcess: Sendable {
    private struct State {
        /// Nil once the process has been ended.
        var id: pid_t?
        /// -1 on a kernel before 5.3, where the number has to do.
        let file: Int32
    }

    private let state: Lock<State>

    init(_ id: pid_t) {
        state = Lock(State(id: id, file: halcyon_process_open(id)))
    }

    deinit {
        _ = end()
        let file = state.withLock { $0.file }
        if file >= 0 { close(file) }
    }

    /// Whether it has not been ended by `end`.
    var isHeld: Bool { state.withLock { $0.id != nil } }

    /// Its processor time in nanoseconds; nil if it has ended.
    var processorTime: Int64? {
        state.withLock { state in
            guard let id = state.id, halcyon_process_runs(state.file) else { return nil }
            let time = halcyon_process_time(id)
            return time < 0 ? nil : time
        }
    }

    /// Limits its address space in bytes and its processor time in seconds; 0 leaves either. Returns whether that was possible.
    func limit(addressSpace: Int, processorSeconds: Int64) -> Bool {
        state.withLock { state in
            guard let id = state.id, halcyon_process_runs(state.file) else { return false }
            return halcyon_process_limit(id, UInt64(clamping: addressSpace), UInt64(clamping: processorSeconds)) == 0
        }
    }

    /// Ends the process, waits for it and returns the reason of its end: that of its own, if it had begun to end.
    ///
    /// - Returns: nil if it was ended before, or if the reason cannot be known.
    func end() -> DecodeStop? {
        let (id, file) = state.withLock { state in
            defer { state.id = nil }
            return (state.id, state.file)
        }
        guard let id else { return nil }
        var status: Int32 = 0
        guard halcyon_process_end(id, file, &status) == 0 else { return nil }
        switch status {
        case 0...: return .exited(status)
        case -SIGSYS: return .forbiddenCall
        case -SIGXCPU: return .processorTime
        default: return .signal(-status)
        }
    }
}
