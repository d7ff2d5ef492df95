import CGTK
import Halcyon

/// The page with the contents of the caches and the hit rate of the memory cache.
@MainActor final class CachePage {
    let widget: Widget
    private let pipeline: ImagePipeline
    private let figures = Make.label("", class: "figures")

    init(_ pipeline: ImagePipeline) {
        self.pipeline = pipeline
        gtk_label_set_ellipsize(figures.opaque, PANGO_ELLIPSIZE_NONE)
        let page = Make.box(
            GTK_ORIENTATION_VERTICAL, spacing: 18, [Make.label("Caches", class: "title-2"), figures]
        ).margins(36)
        widget = page
        gtk_widget_set_halign(page, GTK_ALIGN_CENTER)
        let buttons: [(String, @MainActor () async -> Void)] = [
            ("Clear memory", { pipeline.cache.clearMemory() }),
            ("Halve memory", { pipeline.cache.trimMemory(toFraction: 0.5) }),
            ("Clear disk", { await pipeline.cache.clearDisk() }),
            ("Remove expired", { await pipeline.cache.removeExpired() }),
        ]
        let row = Make.box(
            GTK_ORIENTATION_HORIZONTAL, spacing: 8,
            buttons.map { title, action in
                Make.button(title) { [weak self] in
                    Task {
                        await action()
                        await self?.update()
                    }
                }
            })
        gtk_box_append(page.cast(), row)
    }

    /// Refreshes the figures.
    func update() async {
        let memory = pipeline.cache.memoryStatistics
        let (size, count) = (await pipeline.cache.diskSize, await pipeline.cache.diskCount)
        let lookups = memory.hits + memory.misses
        gtk_label_set_text(
            figures.opaque,
            """
            Memory: \(memory.count) images, \(Facts.bytes(memory.cost))
            Found in memory: \(memory.hits) of \(lookups)
            Driven out: \(memory.evictions)
            Disk: \(count) entries, \(Facts.bytes(size))
            """)
    }
}
