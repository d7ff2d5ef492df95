/// What one turn of the curl thread's loop brings: whose state changed, and when the next limit of time runs out.
///
/// Not Sendable, and never leaves its thread.
final class CurlTurn {
    private var changed: [CurlTransfer] = []
    private var started: ContinuousClock.Instant?
    /// No limit runs out before this; it may be too early, never too late.
    private(set) var nextDeadline: ContinuousClock.Instant?

    /// Transfers that wait for their readers.
    var pausedCount = 0

    /// The time, read once in a turn, which never waits: a head alone has ten lines.
    var now: ContinuousClock.Instant {
        if let started { return started }
        let now = ContinuousClock.now
        started = now
        return now
    }

    /// Turns so far.
    private(set) var number = 0

    func begin() {
        number += 1
        started = nil
    }

    /// Its waiters are told at the turn's end.
    func change(_ transfer: CurlTransfer) {
        if changed.last !== transfer { changed.append(transfer) }
    }

    /// Tells all who wait for what came in the turn.
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
