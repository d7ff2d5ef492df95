import CGTK
import CHalcyonGTK

/// The connection of Swift's main actor to GTK's main loop.
public enum GTKMainLoop {
    /// Runs the main actor, and libdispatch's main queue, on GLib's default main context.
    ///
    /// The first view calls it, and so does `GTKApplication.follow`. A program that runs tasks on the main actor before it has
    /// a view calls it itself, on the main thread and before the loop runs: without it, these tasks wait for as long as the
    /// loop runs. Further calls do nothing, and it does not matter if another binding has done the same.
    public static func attach() {
        halcyon_main_queue_attach()
    }
}

/// A timer that calls a closure once on GLib's main loop.
@MainActor final class MainTimer {
    private var id: guint = 0
    private var body: (@MainActor () -> Void)?

    func start(after time: Duration, _ body: @escaping @MainActor () -> Void) {
        stop()
        self.body = body
        // The limit of a day keeps the interval in the range of `guint`.
        let time = min(time, .seconds(86_400))
        let milliseconds = guint(
            clamping: time.components.seconds * 1000 + time.components.attoseconds / 1_000_000_000_000_000)
        let call: GSourceFunc = { data in
            guard let data else { return 0 }
            MainActor.assumeIsolated { Unmanaged<MainTimer>.fromOpaque(data).takeUnretainedValue().fire() }
            return 0
        }
        id = g_timeout_add_full(
            G_PRIORITY_DEFAULT, milliseconds, call, Unmanaged.passRetained(self).toOpaque(), Release.destroy)
    }

    func stop() {
        body = nil
        guard id != 0 else { return }
        g_source_remove(id)
        id = 0
    }

    private func fire() {
        id = 0
        let body = body
        self.body = nil
        body?()
    }
}
