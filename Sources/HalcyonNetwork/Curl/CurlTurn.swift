/// The state of one turn of the curl thread's loop: the transfers that have changed, and the next deadline.
///
/// It is not Sendable and never leaves its thread.
final class CurlTurn {
    private var changed: [CurlTransfer] = []
    private var started: ContinuousClock.Instant?
    /// The earliest possible deadline; it may be too early, never too late.
    private(set) var nextDeadline: ContinuousClock.Instant?

    /// The number of transfers that wait for their readers.
    var pausedCount = 0

    /// The time, read once per turn, as a turn never waits and a head alone has ten lines.
    var now: ContinuousClock.Instant {
        if let started { return started }
        let now = ContinuousClock.now
        started = now
        return now
    }

    /// The number of turns so far.
    private(set) var number = 0

    func begin() {
        number += 1
        started = nil
    }

    /// Marks a transfer whose waiters are to be resumed at the end of the turn.
    func change(_ transfer: CurlTransfer) {
        if changed.last !== transfer { changed.append(transfer) }
    }

    /// Resumes all waiters for which something has arrived in the turn.
    func end() {
        for transfer in changed { transfer.settle() }
        changed.removeAll(keepingCapacity: true)
    }

    func watch(_ deadline: ContinuousClock.Instant) {
        nextDeadline = nextDeadline.map { min($0, deadline) } ?? deadline
    }

    func forgetDeadline() {
        nextDeadline = nil
    }
}
