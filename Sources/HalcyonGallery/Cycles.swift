import CGTK
import Foundation
import Halcyon
import HalcyonGTK

/// Opens and closes the window repeatedly, and prints the remaining widgets and memory: nothing must grow.
@MainActor struct Cycles {
    private let application: UnsafeMutablePointer<GtkApplication>
    private let collection: Collection
    private let pipeline: ImagePipeline

    init(
        _ application: UnsafeMutablePointer<GtkApplication>, _ collection: Collection, _ pipeline: ImagePipeline
    ) {
        self.application = application
        self.collection = collection
        self.pipeline = pipeline
    }

    func run(_ count: Int) async {
        for cycle in 1...count {
            let census = WidgetCensus()
            let widgets = await open(counting: census)
            // GTK releases some objects only when it is idle.
            await pipeline.configuration.cache.disk?.flush()
            for _ in 0..<3000 where census.count > 0 || TextureTable.shared.count > 0 {
                try? await Task.sleep(for: .milliseconds(20))
            }
            pipeline.cache.clearMemory()
            let kinds = census.living.keys.sorted().joined(separator: " ")
            print(
                #"{"cycle":\#(cycle),"widgets":\#(widgets),"left":\#(census.count),"textures":\#(TextureTable.shared.count),"kinds":"\#(kinds)","resident":\#(Self.residentBytes)}"#
            )
        }
    }

    /// Opens the window with its visible pictures loaded and an animation shown, then destroys it.
    ///
    /// - Returns: The number of widgets that the window had.
    private func open(counting census: WidgetCensus) async -> Int {
        let window = GalleryWindow(application, collection.pictures, from: pipeline)
        gtk_window_present(window.widget.cast())
        await window.settled()
        if let picture = collection.pictures.first(where: { $0.format == "GIF" }) { window.open(picture) }
        await window.settled()
        census.add(window.widget)
        let widgets = census.count
        gtk_window_destroy(window.widget.cast())
        return widgets
    }

    private static var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0)
            * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}

/// Counts the widgets that are still alive.
@MainActor final class WidgetCensus {
    /// The number of living widgets by the name of their type.
    private(set) var living: [String: Int] = [:]

    var count: Int { living.values.reduce(0, +) }

    /// The entry of one widget, for as long as the widget lives.
    @MainActor private final class Entry {
        let census: WidgetCensus
        let type: String

        init(_ census: WidgetCensus, _ type: String) {
            (self.census, self.type) = (census, type)
        }

        func end() {
            census.living[type, default: 0] -= 1
            if census.living[type] == 0 { census.living[type] = nil }
        }
    }

    /// Starts to count a widget and its descendants, except GTK's own tooltip window, which all windows share.
    func add(_ widget: Widget) {
        let object = UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GObject.self)
        let type = g_type_name(object.pointee.g_type_instance.g_class.pointee.g_type).map { String(cString: $0) } ?? "?"
        guard type != "GtkTooltipWindow" else { return }
        living[type, default: 0] += 1
        let notify: GWeakNotify = { data, _ in
            guard let data else { return }
            let entry = Unmanaged<Entry>.fromOpaque(data).takeRetainedValue()
            MainActor.assumeIsolated { entry.end() }
        }
        g_object_weak_ref(object, notify, Unmanaged.passRetained(Entry(self, type)).toOpaque())
        var child = gtk_widget_get_first_child(widget)
        while let next = child {
            add(next)
            child = gtk_widget_get_next_sibling(next)
        }
    }
}
