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
    private var spare: [UnsafeMutableRawPointer] = []
    private static let spareLimit = 16
    /// No limit runs out before this; it may be too early, never too late.
    private var nextDeadline: ContinuousClock.Instant?

    init(multi: CurlMulti, loop: CurlLoop) {
        self.multi = multi
        self.loop = loop
    }

    deinit {
        for handle in spare { curl_easy_cleanup(handle) }
    }

    func run() {
        while true {
            var hadWork = !active.isEmpty
            switch loop.next(hasTransfers: hadWork) {
            case .stop: return
            case .commands(let commands):
                if !commands.isEmpty { hadWork = true }
                commands.forEach(perform)
            }
            var running: Int32 = 0
            curl_multi_perform(multi.handle, &running)
            collectFinished()
            expire()
            // The last one has ended, maybe in the turn it began in, and that may be what the stop waits for.
            if hadWork, active.isEmpty {
                nextDeadline = nil
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
        guard let handle = spare.popLast() ?? curl_easy_init() else {
            let error = DownloadError(.connection(.exhausted), url: transfer.request.url)
            return transfer.finish(.failure(error), metrics: nil)
        }
        let easy = CurlEasy(
            transfer, handle: handle, sessions: multi.sessions, onDeadline: { [unowned self] in watch($0) })
        active[ObjectIdentifier(transfer)] = easy
        if let deadline = easy.deadline { watch(deadline) }
        guard curl_multi_add_handle(multi.handle, easy.handle) == CURLM_OK else {
            active[ObjectIdentifier(transfer)] = nil
            let error = DownloadError(.connection(.exhausted), url: transfer.request.url)
            return transfer.finish(.failure(error), metrics: nil)
        }
    }

    private func collectFinished() {
        var code = CURLE_OK
        while let handle = halcyon_curl_next_done(multi.handle, &code) {
            guard let context = halcyon_curl_private(handle) else { continue }
            let easy = Unmanaged<CurlEasy>.fromOpaque(context).takeUnretainedValue()
            // Read before the handle leaves, which resets what it knows.
            let result = easy.result(of: code)
            let metrics = easy.metrics()
            curl_multi_remove_handle(multi.handle, handle)
            active[ObjectIdentifier(easy.transfer)] = nil
            easy.transfer.finish(result, metrics: metrics)
            if spare.count < Self.spareLimit, let handle = easy.giveBack() { spare.append(handle) }
        }
    }

    // MARK: Limits of time

    private func watch(_ deadline: ContinuousClock.Instant) {
        nextDeadline = nextDeadline.map { min($0, deadline) } ?? deadline
    }

    private func expire() {
        guard let due = nextDeadline, due <= .now else { return }
        nextDeadline = nil
        let now = ContinuousClock.now
        for (id, easy) in active {
            guard let deadline = easy.deadline else { continue }
            guard deadline <= now else {
                watch(deadline)
                continue
            }
            let error = DownloadError(.timeout(easy.expiredLimit(now)), url: easy.transfer.request.url)
            active[id] = nil
            // First the end, so that what is discarded has no taker.
            easy.transfer.finish(.failure(error), metrics: nil)
            remove(easy)
        }
    }

    private func waitMilliseconds() -> Int32 {
        guard let nextDeadline else { return 60_000 }
        // Rounded up, or the loop would spin through the last millisecond.
        return Int32(min(60_000, ContinuousClock.now.duration(to: nextDeadline).milliseconds + 1))
    }
}
