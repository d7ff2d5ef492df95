import CGTK
import Glibc
import Testing

@testable import HalcyonGTK

/// A window on the tests' own screen.
@MainActor final class Window {
    private let window: UnsafeMutablePointer<GtkWidget>
    var pointer: UnsafeMutablePointer<GtkWindow> {
        UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
    }

    private static let hasScreen = gtk_init_check() != 0

    static func requireScreen() throws {
        try #require(hasScreen, "no screen: scripts/with-display brings one")
    }

    init(_ child: UnsafeMutablePointer<GtkWidget>) throws {
        try Self.requireScreen()
        window = gtk_window_new()
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
        gtk_window_set_default_size(pointer, width, height)
    }

    func hide() { gtk_widget_hide(window) }

    func close() { gtk_window_destroy(pointer) }

    var isMapped: Bool { gtk_widget_get_mapped(window) != 0 }

    /// Takes the window off the screen, as a window manager does, which the tests' screen lacks.
    func minimize() throws {
        typealias Unmap = @convention(c) (OpaquePointer?, UInt) -> Int32
        typealias Flush = @convention(c) (OpaquePointer?) -> Int32
        typealias WindowID = @convention(c) (OpaquePointer?) -> UInt
        typealias Display = @convention(c) (OpaquePointer?) -> OpaquePointer?
        let surface = try #require(gtk_native_get_surface(OpaquePointer(window)))
        let display = try function("gdk_x11_display_get_xdisplay", Display.self)(gdk_surface_get_display(surface))
        let id = try function("gdk_x11_surface_get_xid", WindowID.self)(surface)
        _ = try function("XUnmapWindow", Unmap.self)(display, id)
        _ = try function("XFlush", Flush.self)(display)
    }

    /// Returns a function of a library that is loaded together with GTK.
    private func function<Function>(_ name: String, _ type: Function.Type) throws -> Function {
        unsafeBitCast(try #require(dlsym(nil, name)), to: type)
    }

    /// Runs GTK's loop and Swift's by turns until something is true.
    static func run(until isDone: () -> Bool) async {
        // A test that has run out of its time is cancelled.
        while !isDone(), !Task.isCancelled {
            // Where frames take longer than the screen's interval, the next one is always due.
            for _ in 0..<100 where g_main_context_pending(nil) != 0 { g_main_context_iteration(nil, 0) }
            await Task.yield()
        }
    }

    /// Runs until a widget and all of its ancestors are laid out: three of its frames.
    static func layOut(_ widget: UnsafeMutablePointer<GtkWidget>) async {
        await draw(widget, frames: 3)
    }

    static func draw(_ widget: UnsafeMutablePointer<GtkWidget>, frames count: Int) async {
        var frames = 0
        let ticks = FrameTicks(widget) { _ in
            frames += 1
            return frames < count
        }
        ticks.start()
        await run { frames >= count }
    }

    /// Returns the drawing of a widget, once it and all of its ancestors are laid out.
    ///
    /// Taken right behind a frame: from the next change on until it is drawn, GTK has nothing to give.
    static func rendering(
        of widget: UnsafeMutablePointer<GtkWidget>, width: Int, height: Int
    ) async throws -> Rendering {
        try requireScreen()
        await layOut(widget)
        let clock = try #require(gtk_widget_get_frame_clock(widget))
        var (isDrawn, taken): (Bool, Result<Rendering, any Error>?) = (false, nil)
        let ticks = FrameTicks(widget) { _ in
            gtk_widget_queue_draw(widget)
            isDrawn = true
            return false
        }
        let signal = Signal(UnsafeMutableRawPointer(clock), "after-paint") {
            guard isDrawn, taken == nil else { return }
            taken = Result {
                let paintable = try #require(gtk_widget_paintable_new(widget))
                defer { g_object_unref(UnsafeMutableRawPointer(paintable)) }
                return try Rendering(pointer: paintable, width: width, height: height)
            }
        }
        defer { signal.disconnect() }
        ticks.start()
        await run { taken != nil }
        return try #require(taken).get()
    }
}
