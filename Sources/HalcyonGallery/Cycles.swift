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
