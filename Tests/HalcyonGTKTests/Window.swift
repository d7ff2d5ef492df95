import CGTK
import HalcyonGTK
import Testing

/// A window on the tests' own screen.
@MainActor final class Window {
    private let window: UnsafeMutablePointer<GtkWidget>

    private static let hasScreen = gtk_init_check() != 0

    static func requireScreen() throws {
        try #require(hasScreen, "no screen: scripts/with-display brings one")
    }

    init(_ child: UnsafeMutablePointer<GtkWidget>) throws {
        try Self.requireScreen()
        window = gtk_window_new()
        let pointer = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_default_size(pointer, 200, 100)
        gtk_window_set_child(pointer, child)
    }

    /// A window that is on the screen.
    static func showing(_ child: UnsafeMutablePointer<GtkWidget>) async throws -> Window {
        let window = try Window(child)
        window.show()
        await run { gtk_widget_get_mapped(child) != 0 }
        return window
    }

    func show() { gtk_widget_show(window) }

    func resize(_ width: Int32, _ height: Int32) {
        gtk_window_set_default_size(
            UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self), width, height)
    }

    func hide() { gtk_widget_hide(window) }

    func close() { gtk_window_destroy(UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)) }

    /// Runs GTK's loop and Swift's by turns until something is true.
    static func run(until isDone: () -> Bool) async {
        while !isDone() {
            while g_main_context_pending(nil) != 0 { g_main_context_iteration(nil, 0) }
            await Task.yield()
        }
    }
}
