import CGTK
import Foundation
import Halcyon
import HalcyonGTK

/// The application, with its server, its caches and its window.
@MainActor final class GalleryApplication {
    private let command: GalleryCommand
    private let application: UnsafeMutablePointer<GtkApplication>
    private let pipeline: ImagePipeline
    private let cacheFolder: URL
    private var window: GalleryWindow?
    private var status: Int32 = 0

    init(_ command: GalleryCommand) {
        self.command = command
        application = Make.made(gtk_application_new("org.halcyon.Gallery", G_APPLICATION_NON_UNIQUE))
        // The cache is empty at each start, so that loading can be seen.
        cacheFolder = FileManager.default.temporaryDirectory
            .appending(path: "halcyon-gallery-\(ProcessInfo.processInfo.processIdentifier)")
        pipeline = ImagePipeline(configuration: .init(cache: ImageCache(disk: DiskCache(folder: cacheFolder))))
    }

    /// Runs the application until its window is closed.
    ///
    /// - Returns: The exit status of the process.
    func run() -> Int32 {
        Signal(application, "activate") { [weak self] in self?.activate() }
        // Flushes pending writes at shutdown, and handles low memory and the network's return.
        GTKApplication.follow(application, pipeline: pipeline)
        let application = UnsafeMutableRawPointer(application).assumingMemoryBound(to: GApplication.self)
        let ended = g_application_run(application, 0, nil)
        g_object_unref(application)
        try? FileManager.default.removeItem(at: cacheFolder)
        return ended != 0 ? ended : status
    }

    private func activate() {
        let application = UnsafeMutableRawPointer(application).assumingMemoryBound(to: GApplication.self)
        // Keeps the application alive while no window is open, until the pictures are known.
        g_application_hold(application)
        Style.install()
        Task {
            do {
                try await show()
            } catch {
                FileHandle.standardError.write(Data("halcyon-gallery: \(error)\n".utf8))
                status = 1
            }
            g_application_release(application)
        }
    }

    private func show() async throws {
        let collection = try await Collection.open(
            URL(filePath: command.gallery), generated: URL(filePath: command.generated), count: command.count,
            latency: .milliseconds(command.latency), own: command.picture.map { URL(filePath: $0) })
        if let cycles = command.cycles {
            await Cycles(application, collection, pipeline).run(cycles)
        } else if let folder = command.screenshots {
            try await Screenshots(GalleryWindow(application, collection.pictures, from: pipeline), collection.pictures)
                .write(to: URL(filePath: folder), pipeline)
        } else {
            let window = GalleryWindow(application, collection.pictures, from: pipeline)
            self.window = window
            gtk_window_present(window.widget.cast())
            await window.closed()
        }
        self.window = nil
        await collection.close()
    }
}

/// The gallery's additions to the theme.
@MainActor enum Style {
    static func install() {
        guard let provider = gtk_css_provider_new() else { return }
        gtk_css_provider_load_from_data(provider, css, -1)
        gtk_style_context_add_provider_for_display(
            gdk_display_get_default(), OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        g_object_unref(provider)
    }

    private static let css = """
        .pictures { padding: 12px; background: transparent; }
        .pictures > child { padding: 6px; border-radius: 12px; }
        .tile .picture { border-radius: 10px; background: alpha(currentColor, 0.08); }
        .tile-title { font-size: 0.9em; }
        .tile-format { font-size: 0.7em; font-weight: bold; opacity: 0.55; }
        .stage { background: alpha(currentColor, 0.05); }
        .figures { font-size: 1.1em; }
        """
}
