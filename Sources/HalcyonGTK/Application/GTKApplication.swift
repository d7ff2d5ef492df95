import CGTK
import Dispatch
import Halcyon

/// A pipeline that lives with a `GApplication`.
@MainActor public enum GTKApplication {
    /// Has a pipeline do what an application's life asks of it, for as long as the application lives:
    ///
    /// - at its `shutdown` what waits to be written goes to the disk, and the application's end waits for that;
    /// - when the desktop warns of low memory, images leave the memory (`GIOMemoryPressure`);
    /// - when the network comes back (`GIONetworkMonitor`), failures that are remembered are forgotten, since some may have
    ///   come of it;
    /// - when a window of a `GtkApplication` is minimised, what has expired leaves the caches; under X11, where windows are
    ///   told of it.
    ///
    /// Call it once for a pipeline, before `g_application_run`. The `shutdown` comes where that returns by itself, not at
    /// `exit` or a signal: those are `ImageCache.shutDownAtExit`. Loads that wait for the network go on sooner where the
    /// downloader's `networkMonitor` is `GIONetworkMonitor.shared`.
    ///
    /// - Parameters:
    ///   - application: a `GApplication`; no reference of it is kept.
    ///   - pipeline: the shared one by default; kept for as long as the application lives.
    ///   - time: what the application's end may be delayed by, 2 s by default. The main thread waits meanwhile.
    ///   - relievesMemory: false for a cache whose `memoryPressure` is `GIOMemoryPressure` already; true by default.
    public static func follow(
        _ application: UnsafeMutablePointer<GApplication>, pipeline: ImagePipeline = .shared,
        shutdownWithin time: Duration = .seconds(2), relievesMemory: Bool = true
    ) {
        let follower = Follower(pipeline, time: time, relievesMemory: relievesMemory)
        Signal(application, "shutdown") { follower.shutDown() }
        MinimizedWindows.follow(application) { Task.detached { await pipeline.cache.removeExpired() } }
    }

    /// The same for a `GtkApplication`.
    public static func follow(
        _ application: UnsafeMutablePointer<GtkApplication>, pipeline: ImagePipeline = .shared,
        shutdownWithin time: Duration = .seconds(2), relievesMemory: Bool = true
    ) {
        follow(
            UnsafeMutableRawPointer(application).assumingMemoryBound(to: GApplication.self), pipeline: pipeline,
            shutdownWithin: time, relievesMemory: relievesMemory)
    }

    /// What one application has its pipeline do; the handler of its `shutdown` keeps it.
    private final class Follower: Sendable {
        private let pipeline: ImagePipeline
        private let time: Duration
        private let pressure: MemoryPressureSubscription?
        private let endOfReturns: @Sendable () -> Void

        init(_ pipeline: ImagePipeline, time: Duration, relievesMemory: Bool) {
            self.pipeline = pipeline
            self.time = time
            pressure =
                relievesMemory
                ? GIOMemoryPressure.shared.subscribe { [weak pipeline] in pipeline?.cache.relieveMemory($0) } : nil
            endOfReturns = GIONetworkMonitor.shared.onReturn { [weak pipeline] in pipeline?.forgetFailures() }
        }

        deinit {
            endOfReturns()
        }

        /// Waits on the main thread, on which nothing of a shutdown runs.
        func shutDown() {
            let isDone = DispatchSemaphore(value: 0)
            Task.detached { [pipeline, time] in
                await pipeline.shutdown(within: time)
                isDone.signal()
            }
            let (seconds, attoseconds) = time.forTimer.components
            _ = isDone.wait(timeout: .now() + Double(seconds) + Double(attoseconds) * 1e-18)
        }
    }
}
