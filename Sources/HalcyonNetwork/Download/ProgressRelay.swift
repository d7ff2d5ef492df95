import HalcyonSystem

/// Passes progress on to one subscriber: in order, one call at a time, the latest when it is slow.
///
/// Two threads may report to it, the transfer's and the one that subscribes and is told where things stand.
final class ProgressRelay: Sendable {
    private struct State {
        var sequence = 0
        var pending: DownloadProgress?
        var isCalling = false
        var isClosed = false
    }

    private let state = Lock(State())
    private let handler: @Sendable (DownloadProgress) -> Void

    init(_ handler: @escaping @Sendable (DownloadProgress) -> Void) {
        self.handler = handler
    }

    /// - Parameter sequence: counts up with the transfer's reports; what is older than the last is dropped.
    func report(_ progress: DownloadProgress, sequence: Int) {
        let isMine = state.withLock { state in
            guard sequence > state.sequence, !state.isClosed else { return false }
            state.sequence = sequence
            state.pending = progress
            defer { state.isCalling = true }
            return !state.isCalling
        }
        guard isMine else { return }
        while let next = take() { handler(next) }
    }

    /// Calls no more from here on, but for a call that is running.
    func close() {
        state.withLock { $0.isClosed = true }
    }

    private func take() -> DownloadProgress? {
        state.withLock { state in
            guard let pending = state.pending, !state.isClosed else {
                state.isCalling = false
                return nil
            }
            state.pending = nil
            return pending
        }
    }
}
