import CGTK
import Foundation

/// A window of a given size, in logical pixels, with one widget in it.
@MainActor struct ViewWindow {
    let window: UnsafeMutablePointer<GtkWidget>

    init(_ child: UnsafeMutablePointer<GtkWidget>, _ width: Int32, _ height: Int32) throws {
        guard let window = gtk_window_new() else { throw BenchFailure("no window") }
        self.window = window
        gtk_window_set_default_size(pointer, width, height)
        gtk_window_set_child(pointer, child)
        gtk_window_present(pointer)
    }

    private var pointer: UnsafeMutablePointer<GtkWindow> {
        UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
    }

    func minimize() { gtk_widget_hide(window) }

    func close() { gtk_window_destroy(pointer) }
}

/// Returns the processor time of this process in seconds.
func processorSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
