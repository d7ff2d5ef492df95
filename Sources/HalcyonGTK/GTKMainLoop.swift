import CHalcyonGTK

/// Swift's main actor on GTK's main loop.
public enum GTKMainLoop {
    /// Runs the main actor, and libdispatch's main queue, on GLib's default main context.
    ///
    /// Call it once on the main thread, before the loop runs: before `g_application_run`, for one. Further calls do
    /// nothing, and it does not matter whether another binding has done the same. Without it, tasks of the main actor wait
    /// for as long as GTK's loop runs, and no image is ever shown.
    public static func attach() {
        halcyon_main_queue_attach()
    }
}
