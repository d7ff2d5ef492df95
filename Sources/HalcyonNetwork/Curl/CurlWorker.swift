import CCurl
import CHalcyonCurl

/// The loop of the curl thread: it owns the easy handles, moves their bytes and enforces their time limits.
///
/// It is not Sendable and never leaves its thread.
final class CurlWorker {
    private let multi: CurlMulti
    private let loop: CurlLoop
    private var active: [ObjectIdentifier: CurlEasy] = [:]
    /// Handles of finished transfers, for reuse; each has a buffer of 64 KiB.
    private var spares: [CurlEasy.Spare] = []
    private static let spareLimit = 16
    private let turn = CurlTurn()

    init(multi: CurlMulti, loop: CurlLoop) {
        self.multi = multi
        self.loop = loop
    }

    deinit {
        for spare in spares { curl_easy_cleanup(spare.handle) }
    }

    func run() {
        while true {
            turn.begin()
            multi.beginTurn()
            var hadWork = !active.isEmpty
            switch loop.next(hasTransfers: hadWork) {
            case .stop: return
            case .commands(let commands):
                if !commands.isEmpty { hadWork = true }
                commands.forEach(perform)
            }
            var running: Int32 = 0
            curl_multi_perform(multi.handle, &running)
            if turn.pausedCount > 0 { active.values.forEach { $0.takeHeldBytes() } }
            collectFinished()
            expire()
            turn.end()
            // The last transfer has ended, maybe in the turn in which it began, and the stop may be waiting for that.
            if hadWork, active.isEmpty {
                turn.forgetDeadline()
                continue
            }
            // More may have happened during the perform above; it is not lost, as wake-ups are kept.
            curl_multi_poll(multi.handle, nil, 0, waitMilliseconds(), nil)
        }
    }

    private func perform(_ command: CurlLoop.Command) {
        switch command {
        case .start(let transfer):
            start(transfer)
        case .resume(let transfer):
            active[ObjectIdentifier(transfer)]?.resume()
        case .cancel(let transfer):
            guard let easy = active.removeValue(forKey: ObjectIdentifier(transfer)) else { return }
            remove(easy)
        }
    }

    /// Removes a transfer before its end, and tells the server.
    ///
    /// Since 7.88 libcurl prepares the RST_STREAM of HTTP/2 and sends it when the connection is used the next time,
    /// which may never happen. So a connection without other streams is closed, and one with others is used through one
    /// of them.
    private func remove(_ easy: CurlEasy) {
        easy.discard()
        let connection = easy.sharedConnection
        easy.closeWithConnection()
        curl_multi_remove_handle(multi.handle, easy.handle)
        guard let connection else { return }
        active.values.first { $0.sharedConnection == connection }?.flushConnection()
    }

    private func start(_ transfer: CurlTransfer) {
        // Its cancellation may have come earlier, and does not come again.
        guard !transfer.hasEnded else { return }
        guard let spare = spares.popLast() ?? curl_easy_init().map({ CurlEasy.Spare(handle: $0) }) else {
            return refuse(transfer)
        }
        let easy = CurlEasy(transfer, spare: spare, multi: multi, turn: turn)
        active[ObjectIdentifier(transfer)] = easy
        if let deadline = easy.deadline { turn.watch(deadline) }
        guard curl_multi_add_handle(multi.handle, easy.handle) == CURLM_OK else {
            active[ObjectIdentifier(transfer)] = nil
            return refuse(transfer)
        }
    }

    private func refuse(_ transfer: CurlTransfer) {
        finish(transfer, DownloadError(.connection(.exhausted), url: transfer.request.url))
    }

    private func finish(_ transfer: CurlTransfer, _ failure: (any Error)?, metrics: TransportMetrics? = nil) {
        transfer.finish(failure, metrics: metrics)
        turn.change(transfer)
    }

    private func collectFinished() {
        var code = CURLE_OK
        while let handle = halcyon_curl_next_done(multi.handle, &code) {
            guard let context = halcyon_curl_private(handle) else { continue }
            let easy = Unmanaged<CurlEasy>.fromOpaque(context).takeUnretainedValue()
            // Read before the handle is removed, which resets its data.
            let failure = easy.failure(of: code)
            let metrics = easy.metrics()
            curl_multi_remove_handle(multi.handle, handle)
            active[ObjectIdentifier(easy.transfer)] = nil
            finish(easy.transfer, failure, metrics: metrics)
            if spares.count < Self.spareLimit, let spare = easy.giveBack() { spares.append(spare) }
        }
    }

    // MARK: Time limits

    private func expire() {
        guard let due = turn.nextDeadline, due <= turn.now else { return }
        turn.forgetDeadline()
        let now = turn.now
        for (id, easy) in active {
            guard let deadline = easy.deadline else { continue }
            guard deadline <= now else {
                turn.watch(deadline)
                continue
            }
            let error = DownloadError(.timeout(easy.expiredLimit(now)), url: easy.transfer.request.url)
            active[id] = nil
            // The end comes first, so that discarded bytes are not delivered.
            finish(easy.transfer, error)
            remove(easy)
        }
    }

    private func waitMilliseconds() -> Int32 {
        guard let nextDeadline = turn.nextDeadline else { return 60_000 }
        // Rounded up, as otherwise the loop would spin through the last millisecond.
        return Int32(max(0, min(60_000, ContinuousClock.now.duration(to: nextDeadline).milliseconds + 1)))
    }
}

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
