import CGTK
import Halcyon
import HalcyonGTK

/// The gallery's window, with the grid, the page of a picture, and the page of the caches.
@MainActor final class GalleryWindow {
    let widget: Widget
    private let stack: Widget
    private let back: Widget
    private let detail: DetailPage
    private let caches: CachePage
    private var grid: GridPage?

    init(_ application: UnsafeMutablePointer<GtkApplication>, _ pictures: [Picture], from pipeline: ImagePipeline) {
        let (window, stack) = (Make.made(gtk_application_window_new(application)), Make.made(gtk_stack_new()))
        let header = Make.made(gtk_header_bar_new())
        (widget, self.stack) = (window, stack)
        detail = DetailPage(pipeline)
        caches = CachePage(pipeline)
        back = Make.iconButton("go-previous-symbolic", tip: "All pictures") {
            gtk_stack_set_visible_child_name(stack.opaque, "grid")
        }
        let grid = GridPage(pictures, from: pipeline) { [weak self] in self?.open($0) }
        self.grid = grid
        let switcher = Make.box(
            GTK_ORIENTATION_HORIZONTAL,
            [
                Make.button("Pictures") { gtk_stack_set_visible_child_name(stack.opaque, "grid") },
                Make.button("Caches") { gtk_stack_set_visible_child_name(stack.opaque, "caches") },
            ]
        ).addClass("linked")
        gtk_header_bar_pack_start(header.opaque, back)
        gtk_header_bar_set_title_widget(header.opaque, switcher)
        gtk_window_set_titlebar(window.cast(), header)
        gtk_window_set_title(window.cast(), "Halcyon Gallery")
        gtk_window_set_default_size(window.cast(), 1120, 760)
        gtk_stack_add_named(stack.opaque, grid.widget, "grid")
        gtk_stack_add_named(stack.opaque, detail.widget, "picture")
        gtk_stack_add_named(stack.opaque, caches.widget, "caches")
        gtk_stack_set_transition_type(stack.opaque, GTK_STACK_TRANSITION_TYPE_SLIDE_LEFT_RIGHT)
        gtk_window_set_child(window.cast(), stack)
        Signal(stack, "notify::visible-child") { [weak self] in self?.pageChanged() }
        pageChanged()
    }

    func open(_ picture: Picture) {
        detail.show(picture)
        gtk_stack_set_visible_child_name(stack.opaque, "picture")
    }

    /// - Parameter factor: A multiple of the size at which the whole picture fits.
    func zoom(to factor: Double) { detail.zoom(to: factor) }

    func showCaches() { gtk_stack_set_visible_child_name(stack.opaque, "caches") }

    /// Returns once the window is closed.
    func closed() async {
        await withCheckedContinuation { continuation in Signal(widget, "destroy") { continuation.resume() } }
    }

    /// Returns once the grid has its first tiles.
    func laidOut() async {
        while grid?.isEmpty ?? true { try? await Task.sleep(for: .milliseconds(20)) }
    }

    /// Returns once everything visible is loaded.
    func settled() async {
        repeat { try? await Task.sleep(for: .milliseconds(20)) } while isLoading
    }

    private var isLoading: Bool {
        switch page {
        case "picture": detail.isLoading
        case "grid": grid.map { $0.isEmpty || $0.isLoading } ?? true
        default: false
        }
    }

    private var page: String? { gtk_stack_get_visible_child_name(stack.opaque).map { String(cString: $0) } }

    private func pageChanged() {
        let page = page
        gtk_widget_set_visible(back, page == "picture" ? 1 : 0)
        if page != "picture" { detail.clear() }
        if page == "caches" { Task { await caches.update() } }
    }
}
