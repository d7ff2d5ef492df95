import HalcyonSystem

/// The progress of a download.
public struct DownloadProgress: Sendable, Hashable {
    /// The number of bytes received so far, as transferred; it decreases when a failed attempt is retried.
    public var received: Int
    /// The total number of bytes to transfer, nil if the server does not declare it.
    public var expected: Int?
    /// The bytes received so far, decompressed, if the request has `exposesBody` set.
    package var body: ReceivedBody?

    package init(received: Int, expected: Int?, body: ReceivedBody? = nil) {
        self.received = received
        self.expected = expected
        self.body = body
    }

    /// The fraction received so far, from 0 to 1; nil if the total is unknown.
    public var fraction: Double? {
        guard let expected, expected > 0 else { return nil }
        return min(1, Double(received) / Double(expected))
    }
}

/// A relay that delivers progress to one subscriber: in order, one call at a time, only the latest if the subscriber is slow.
///
/// Two threads may report to it: that of the transfer, and that of the subscription, which reports the current progress.
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

    /// Delivers progress to the subscriber.
    ///
    /// - Parameter sequence: The number of the transfer's report; an older one than the last is dropped.
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

    /// Stops all calls, except for one that is running.
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
