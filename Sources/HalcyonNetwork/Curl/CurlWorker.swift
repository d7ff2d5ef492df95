import CCurl
import CHalcyonCurl

/// What runs on the curl thread: it owns the easy handles, moves their bytes and watches their times.
///
/// Not Sendable, and never leaves its thread.
final class CurlWorker {
    private let multi: CurlMulti
    private let loop: CurlLoop
    private var active: [ObjectIdentifier: CurlEasy] = [:]
    /// Handles that have served; each holds a buffer of 64 KiB.
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
            // The last one has ended, maybe in the turn it began in, and that may be what the stop waits for.
            if hadWork, active.isEmpty {
                turn.forgetDeadline()
                continue
            }
            // Several things may have happened in the perform above; none of them is lost, as wake-ups are kept.
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

    /// Takes a transfer out before its end, and tells the server so.
    ///
    /// Since 7.88 libcurl makes the RST_STREAM of HTTP/2 ready and sends it when the connection is used the next time.
    /// Nobody may, so a connection without other streams is closed, and one with others is used through one of them.
    private func remove(_ easy: CurlEasy) {
        easy.discard()
        let connection = easy.sharedConnection
        easy.closeWithConnection()
        curl_multi_remove_handle(multi.handle, easy.handle)
        guard let connection else { return }
        active.values.first { $0.sharedConnection == connection }?.flushConnection()
    }

    private func start(_ transfer: CurlTransfer) {
        // Its cancel may have come before it, and does not come again.
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
            // Read before the handle leaves, which resets what it knows.
            let failure = easy.failure(of: code)
            let metrics = easy.metrics()
            curl_multi_remove_handle(multi.handle, handle)
            active[ObjectIdentifier(easy.transfer)] = nil
            finish(easy.transfer, failure, metrics: metrics)
            if spares.count < Self.spareLimit, let spare = easy.giveBack() { spares.append(spare) }
        }
    }

    // MARK: Limits of time

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
            // First the end, so that what is discarded has no taker.
            finish(easy.transfer, error)
            remove(easy)
        }
    }

    private func waitMilliseconds() -> Int32 {
        guard let nextDeadline = turn.nextDeadline else { return 60_000 }
        // Rounded up, or the loop would spin through the last millisecond.
        return Int32(max(0, min(60_000, ContinuousClock.now.duration(to: nextDeadline).milliseconds + 1)))
    }
}
