import Dispatch
import Foundation
import HalcyonSystem

extension ImageCache {
    /// Shuts the cache down when the program ends: at the end of `main`, at `exit`, and at the given signals, after which the
    /// signal ends the program as it would have without the cache. One call is enough; it does not keep the cache alive.
    ///
    /// The end of the program waits for the shutdown. `_exit`, a crash and `SIGKILL` skip it: staged entries are then lost, and
    /// entries on disk stay intact.
    ///
    /// - Parameters:
    ///   - time: the longest delay of the program's end; the longest of several caches counts.
    ///   - signals: such as `SIGTERM` and `SIGINT`; none by default. A handler that the program has set for one of them is
    ///     replaced; a signal that is ignored stays ignored. Signals that cannot be caught (`SIGKILL`) end the program at once.
    public func shutDownAtExit(within time: Duration = .seconds(2), signals: Set<Int32> = []) {
        ExitHook.shared.add(self, within: time, signals: signals)
    }
}

/// The caches to shut down when the program ends.
private final class ExitHook: Sendable {
    static let shared = ExitHook()

    private struct Entry {
        weak var cache: ImageCache?
        let time: Duration
    }

    private struct State {
        var entries: [Entry] = []
        var isAtExit = false
    }

    private let state = Lock(State())

    func add(_ cache: ImageCache, within time: Duration, signals: Set<Int32>) {
        state.withLock { state in
            state.entries.removeAll { $0.cache == nil || $0.cache === cache }
            state.entries.append(Entry(cache: cache, time: time))
            if !state.isAtExit {
                state.isAtExit = true
                atexit { ExitHook.shared.run() }
            }
        }
        if !signals.isEmpty {
            EndSignals.handle(signals) { [self] in run() }
        }
    }

    /// Shuts the caches down and waits on this thread, which is the program's last one or that of the signals.
    private func run() {
        let entries = state.withLock { $0.entries }
        let caches = entries.compactMap { entry in entry.cache.map { ($0, entry.time) } }
        guard let longest = caches.map(\.1).max() else { return }
        let isDone = DispatchSemaphore(value: 0)
        for (cache, time) in caches {
            Task.detached {
                await cache.shutdown(within: time)
                isDone.signal()
            }
        }
        let deadline = DispatchTime.now() + longest.inSeconds
        for _ in caches { _ = isDone.wait(timeout: deadline) }
    }
}
