import CGTK
import Foundation
import Halcyon
import HalcyonGTK

/// Writes screenshots of the window's pages.
@MainActor struct Screenshots {
    private let window: GalleryWindow
    private let pictures: [Picture]

    init(_ window: GalleryWindow, _ pictures: [Picture]) {
        self.window = window
        self.pictures = pictures
    }

    func write(to folder: URL, _ pipeline: ImagePipeline) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        gtk_window_present(window.widget.cast())
        await window.laidOut()
        // Long enough for the first pictures to load, but not for all.
        try await Task.sleep(for: .milliseconds(250))
        try await write("gallery-loading.png", folder)
        try await settle()
        try await write("gallery-grid.png", folder)
        if let picture = pictures.first(where: { $0.format == "GIF" }) ?? pictures.first { window.open(picture) }
        try await settle()
        try await write("gallery-picture.png", folder)
        if let picture = pictures.first { window.open(picture) }
        try await settle()
        window.zoom(to: 16)
        try await settle()
        try await write("gallery-zoomed.png", folder)
        window.showCaches()
        try await settle()
        try await write("gallery-caches.png", folder)
        gtk_window_destroy(window.widget.cast())
    }

    /// Waits until everything visible is loaded and all transitions have ended.
    private func settle() async throws {
        await window.settled()
        try await Task.sleep(for: .seconds(1))
    }

    /// Returns the window's content once it has any.
    private func drawn() async throws -> (node: OpaquePointer, width: Int32, height: Int32) {
        let paintable = gtk_widget_paintable_new(window.widget)
        defer { g_object_unref(UnsafeMutableRawPointer(paintable)) }
        while true {
            let (width, height) = (
                gdk_paintable_get_intrinsic_width(paintable), gdk_paintable_get_intrinsic_height(paintable)
            )
            let snapshot = gtk_snapshot_new()
            gdk_paintable_snapshot(paintable, snapshot, Double(width), Double(height))
            if let node = gtk_snapshot_free_to_node(snapshot) { return (node, width, height) }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func write(_ name: String, _ folder: URL) async throws {
        let (node, width, height) = try await drawn()
        defer { gsk_render_node_unref(node) }
        let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height)
        defer { cairo_surface_destroy(surface) }
        let cairo = cairo_create(surface)
        gsk_render_node_draw(node, cairo)
        cairo_destroy(cairo)
        let file = folder.appending(path: name).path(percentEncoded: false)
        let status = cairo_surface_write_to_png(surface, file)
        guard status == CAIRO_STATUS_SUCCESS else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: file])
        }
    }
}
