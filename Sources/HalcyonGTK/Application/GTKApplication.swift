import CGTK
import Dispatch
import Halcyon
import HalcyonSystem

/// The connection of a pipeline to the life of a `GApplication`.
@MainActor public enum GTKApplication {
    /// Connects a pipeline to the events of an application, for as long as the application lives:
    ///
    /// - at its `shutdown`, pending writes go to the disk, and the end of the application waits for them;
    /// - when the desktop warns of low memory, images are evicted from memory, and `FramePool.shared` keeps fewer frames
    ///   (`GIOMemoryPressure`);
    /// - when the network comes back (`GIONetworkMonitor`), remembered failures are forgotten, since the missing network may
    ///   have caused some of them;
    /// - when a window of a `GtkApplication` is minimised, expired entries are removed from the caches: under X11, and under
    ///   Wayland with GTK 4.12 or later, where the window is suspended. With an older GTK, Wayland does not tell, and the regular
    ///   sweeps of the caches do it.
    ///
    /// Call it once for a pipeline, before `g_application_run`. The `shutdown` signal is emitted when that function returns by
    /// itself, not at `exit` or a signal: for those there is `ImageCache.shutDownAtExit`. Loads that wait for the network
    /// resume sooner if the downloader's `networkMonitor` is `GIONetworkMonitor.shared`.
    ///
    /// - Parameters:
    ///   - application: a `GApplication`; no reference to it is kept.
    ///   - pipeline: the pipeline to connect, the shared one by default; kept for as long as the application lives.
    ///   - time: the maximum delay of the application's end, 2 s by default. The main thread is blocked meanwhile.
    ///   - relievesMemory: whether warnings of low memory relieve the cache and the shared frames, true by default; pass false
    ///     for a cache whose `memoryPressure` is `GIOMemoryPressure` already.
    public static func follow(
        _ application: UnsafeMutablePointer<GApplication>, pipeline: ImagePipeline = .shared,
        shutdownWithin time: Duration = .seconds(2), relievesMemory: Bool = true
    ) {
        GTKMainLoop.attach()
        let follower = Follower(pipeline, time: time, relievesMemory: relievesMemory)
        Signal(application, "shutdown") { follower.shutDown() }
        MinimizedWindows.follow(application) { Task.detached { await pipeline.cache.removeExpired() } }
    }

    /// Connects a pipeline to the events of a `GtkApplication`.
    public static func follow(
        _ application: UnsafeMutablePointer<GtkApplication>, pipeline: ImagePipeline = .shared,
        shutdownWithin time: Duration = .seconds(2), relievesMemory: Bool = true
    ) {
        follow(
            UnsafeMutableRawPointer(application).assumingMemoryBound(to: GApplication.self), pipeline: pipeline,
            shutdownWithin: time, relievesMemory: relievesMemory)
    }

    /// The connection of one application to its pipeline, kept by the handler of `shutdown`.
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
                ? GIOMemoryPressure.shared.subscribe { [weak pipeline] in
                    pipeline?.cache.relieveMemory($0)
                    FramePool.shared.relieve($0)
                } : nil
            endOfReturns = GIONetworkMonitor.shared.onReturn { [weak pipeline] in pipeline?.forgetFailures() }
        }

        deinit {
            endOfReturns()
        }

        /// Blocks the main thread, on which no part of a pipeline's shutdown runs.
        func shutDown() {
            let isDone = DispatchSemaphore(value: 0)
            Task.detached { [pipeline, time] in
                await pipeline.shutdown(within: time)
                isDone.signal()
            }
            _ = isDone.wait(timeout: .now() + time.forTimer.inSeconds)
        }
    }
}

/// A detector of minimised windows of an application.
@MainActor enum MinimizedWindows {
    /// Calls a body each time that a window is minimised or suspended, for as long as the application lives; never if it is not a
    /// `GtkApplication`.
    static func follow(_ application: UnsafeMutablePointer<GApplication>, _ body: @escaping MainCall.Body) {
        let instance = UnsafeMutableRawPointer(application).assumingMemoryBound(to: GTypeInstance.self)
        guard g_type_check_instance_is_a(instance, gtk_application_get_type()) != 0 else { return }
        Signal(application, "window-added", object: { watch($0.assumingMemoryBound(to: GtkWidget.self), body) })
        for window in windows(of: application) { watch(window, body) }
    }

    private static func windows(
        of application: UnsafeMutablePointer<GApplication>
    ) -> [UnsafeMutablePointer<GtkWidget>] {
        let application = UnsafeMutableRawPointer(application).assumingMemoryBound(to: GtkApplication.self)
        let first = gtk_application_get_windows(application)
        return sequence(first: first) { $0?.pointee.next }.compactMap {
            $0?.pointee.data.assumingMemoryBound(to: GtkWidget.self)
        }
    }

    private static func watch(_ window: UnsafeMutablePointer<GtkWidget>, _ body: @escaping MainCall.Body) {
        // A window has a surface once it is realized, and another one each time.
        Signal(window, "realize") { watchSurface(of: window, body) }
        if gtk_widget_get_realized(window) != 0 { watchSurface(of: window, body) }
    }

    private static func watchSurface(of window: UnsafeMutablePointer<GtkWidget>, _ body: @escaping MainCall.Body) {
        guard let surface = gtk_native_get_surface(OpaquePointer(window)) else { return }
        var wasAway = false
        Signal(UnsafeMutableRawPointer(surface), "notify::state") {
            let isAway = isAway(gdk_toplevel_get_state(surface).rawValue)
            defer { wasAway = isAway }
            if isAway, !wasAway { body() }
        }
    }

    /// Returns whether a window in this state cannot be seen: X11 says that it is minimised, Wayland only that it is suspended.
    static func isAway(_ state: UInt32) -> Bool {
        // The headers name it since GTK 4.12.
        let suspended: UInt32 = 1 << 16  // GDK_TOPLEVEL_STATE_SUSPENDED
        return state & (GDK_TOPLEVEL_STATE_MINIMIZED.rawValue | suspended) != 0
    }
}
