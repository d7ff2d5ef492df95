import CGTK
import Foundation

/// Runs the main actor on GLib's main loop, like `GTKMainLoop.attach()`, and times each of its turns: these are the
/// slices of the main thread that Halcyon's code and this program take.
enum TimedMainQueue {
    private typealias Handle = @convention(c) () -> Int32
    private typealias Callback = @convention(c) (UnsafeMutableRawPointer?) -> Void

    /// The duration of each turn in milliseconds; accessed only on the main thread.
    nonisolated(unsafe) private(set) static var slices: [Double] = []
    nonisolated(unsafe) private static var callback: Callback?

    static func attach() {
        guard let handle = dlsym(nil, "_dispatch_get_main_queue_handle_4CF"),
            let drain = dlsym(nil, "_dispatch_main_queue_callback_4CF")
        else { fatalError("no libdispatch") }
        callback = unsafeBitCast(drain, to: Callback.self)
        let descriptor = unsafeBitCast(handle, to: Handle.self)()
        g_io_add_watch(
            g_io_channel_unix_new(descriptor), G_IO_IN,
            { channel, _, _ in
                var count: UInt64 = 0
                read(g_io_channel_unix_get_fd(channel), &count, 8)
                TimedMainQueue.timed { TimedMainQueue.callback?(nil) }
                return 1
            }, nil)
    }

    /// Runs `body` and records its duration in milliseconds.
    static func timed(_ body: () -> Void) {
        let start = ContinuousClock.now
        body()
        slices.append((ContinuousClock.now - start) / .milliseconds(1))
    }

    static func reset() { slices = [] }

    static func percentile(_ share: Double) -> Double {
        let sorted = slices.sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
    }
}
