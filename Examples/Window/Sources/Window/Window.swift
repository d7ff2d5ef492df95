import CGTK
import Foundation
import HalcyonGTK

/// Shows a picture in a window: `Window URL-OR-FILE`.
@main
struct Window {
    static func main() {
        guard let application = gtk_application_new("org.example.window", G_APPLICATION_NON_UNIQUE) else { return }
        g_signal_connect_data(
            application, "activate", unsafeBitCast(activate, to: GCallback.self), nil, nil, GConnectFlags(rawValue: 0))
        g_application_run(UnsafeMutableRawPointer(application).assumingMemoryBound(to: GApplication.self), 0, nil)
        g_object_unref(application)
    }

    static let activate: @convention(c) (OpaquePointer, gpointer?) -> Void = { application, _ in
        nonisolated(unsafe) let application = application
        MainActor.assumeIsolated { open(UnsafeMutablePointer(application)) }
    }

    @MainActor static func open(_ application: UnsafeMutablePointer<GtkApplication>) {
        guard let widget = gtk_application_window_new(application) else { return }
        GTKApplication.follow(application)
        let view = ImageView()
        let source = CommandLine.arguments.last ?? ""
        view.setImage(from: source.contains("://") ? URL(string: source) : URL(filePath: source)) { end in
            if case .failed(let error) = end { print(error) }
        }
        let window = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_default_size(window, 640, 480)
        gtk_window_set_child(window, view.widget)
        view.attachToWidget()
        gtk_window_present(window)
    }
}
