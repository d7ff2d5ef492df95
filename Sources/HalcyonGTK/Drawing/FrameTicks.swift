import CGTK

/// A closure that is called before each frame of a widget's window, until it returns false.
///
/// The frame clock stops while it is not needed, so nothing runs between two uses.
@MainActor final class FrameTicks {
    private let widget: UnsafeMutablePointer<GtkWidget>
    private let body: @MainActor (Duration) -> Bool
    private var id: guint = 0
    private var isInside = false
    /// Whether `start()` was called during a call of the body.
    private var isAskedAgain = false

    /// - Parameter body: called with the frame's time; returns whether it needs the next frame too.
    init(_ widget: UnsafeMutablePointer<GtkWidget>, _ body: @escaping @MainActor (Duration) -> Bool) {
        self.widget = widget
        self.body = body
    }

    /// Requests frames; does nothing if they are requested already.
    func start() {
        if isInside {
            isAskedAgain = true
            return
        }
        guard id == 0 else { return }
        let call: GtkTickCallback = { _, clock, data in
            guard let data, let clock else { return 0 }
            let time = Duration.microseconds(gdk_frame_clock_get_frame_time(clock))
            return MainActor.assumeIsolated {
                Unmanaged<FrameTicks>.fromOpaque(data).takeUnretainedValue().tick(time) ? 1 : 0
            }
        }
        id = gtk_widget_add_tick_callback(widget, call, Unmanaged.passRetained(self).toOpaque(), Release.destroy)
    }

    func stop() {
        isAskedAgain = false
        guard id != 0 else { return }
        gtk_widget_remove_tick_callback(widget, id)
        id = 0
    }

    private func tick(_ time: Duration) -> Bool {
        let current = id
        (isInside, isAskedAgain) = (true, false)
        let isWanted = body(time)
        isInside = false
        // The body may have stopped the ticks and started them again: that is another callback.
        guard id == current else {
            if isAskedAgain { start() }
            return false
        }
        if isWanted || isAskedAgain { return true }
        id = 0
        return false
    }
}
