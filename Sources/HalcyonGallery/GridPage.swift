import CGTK
import Halcyon
import HalcyonGTK

/// The grid of all pictures; the list makes widgets only for the visible ones.
@MainActor final class GridPage {
    let widget: Widget
    private let list: Widget
    private let tiles = Tiles()
    private let prefetcher: ImageListPrefetcher

    /// The tiles, keyed by the list's items.
    @MainActor fileprivate final class Tiles {
        var all: [OpaquePointer: Tile] = [:]
    }

    init(_ pictures: [Picture], from pipeline: ImagePipeline, open: @escaping @MainActor (Picture) -> Void) {
        let names = gtk_string_list_new(nil)
        for picture in pictures { gtk_string_list_append(names, picture.title) }
        let factory = Make.made(gtk_signal_list_item_factory_new())
        let selection = gtk_no_selection_new(names)
        let list = Make.made(gtk_grid_view_new(selection, factory))
        self.list = list
        gtk_grid_view_set_max_columns(list.opaque, 12)
        gtk_grid_view_set_min_columns(list.opaque, 2)
        gtk_grid_view_set_single_click_activate(list.opaque, 1)
        widget = Make.scrolled(list.addClass("pictures"))
        let tiles = tiles
        prefetcher = ImageListPrefetcher(list, pipeline: pipeline) {
            tiles.request(pictures[$0], in: pipeline).map { [$0] } ?? []
        }
        let raw = UnsafeMutableRawPointer(factory)
        Signal(raw, "setup", object: { tiles.setUp(OpaquePointer($0)) })
        Signal(raw, "teardown", object: { tiles.all[OpaquePointer($0)] = nil })
        Signal(raw, "unbind", object: { tiles.all[OpaquePointer($0)]?.clear() })
        Signal(
            raw, "bind",
            object: {
                let item = OpaquePointer($0)
                tiles.all[item]?.show(pictures[Int(gtk_list_item_get_position(item))], from: pipeline)
            })
        Signal(list, "activate", number: { number in MainActor.assumeIsolated { open(pictures[Int(number)]) } })
    }

    /// Whether a visible tile is still loading.
    var isLoading: Bool { tiles.all.values.contains { $0.isMapped && $0.isLoading } }

    /// Whether no tile is laid out yet.
    var isEmpty: Bool { !tiles.all.values.contains { $0.isMapped } }

}

extension GridPage.Tiles {
    /// Returns the request that a tile will make; all tiles have one size.
    fileprivate func request(_ picture: Picture, in pipeline: ImagePipeline) -> ImageRequest? {
        all.values.first(where: \.isMapped)?.request(picture, in: pipeline)
    }

    fileprivate func setUp(_ item: OpaquePointer) {
        let tile = Tile()
        all[item] = tile
        gtk_list_item_set_child(item, tile.widget)
    }
}

/// A picture in the grid. The list reuses a tile for another picture when its own is scrolled away.
@MainActor final class Tile {
    let widget: Widget
    private let view = ImageView()
    private let title = Make.label("", class: "tile-title")
    private let format = Make.label("", class: "tile-format")

    init() {
        view.contentFit = .cover
        view.loadingIndicator = .progressBar
        gtk_widget_set_size_request(view.widget, 150, 130)
        gtk_widget_set_overflow(view.widget, GTK_OVERFLOW_HIDDEN)
        widget = Make.box(
            GTK_ORIENTATION_VERTICAL, spacing: 4,
            [
                view.widget.addClass("picture").expanding(),
                Make.box(GTK_ORIENTATION_HORIZONTAL, spacing: 6, [title.expanding(down: false), format]),
            ]
        ).addClass("tile")
    }

    func show(_ picture: Picture, from pipeline: ImagePipeline) {
        gtk_label_set_text(title.opaque, picture.title)
        gtk_label_set_text(format.opaque, picture.format)
        view.accessibleLabel = picture.title
        view.setImage(
            from: picture.url, placeholder: picture.hash.flatMap { try? .blurHash($0) },
            transition: .fade(.milliseconds(250)), pipeline: pipeline)
    }

    /// Returns the request for a picture at the tile's present size.
    func request(_ picture: Picture, in pipeline: ImagePipeline) -> ImageRequest {
        ImageRequest(picture.url).fitting(
            width: Int(gtk_widget_get_width(view.widget)), height: Int(gtk_widget_get_height(view.widget)),
            scaleFactor: Int(gtk_widget_get_scale_factor(view.widget)), contentFit: view.contentFit,
            pipeline: pipeline)
    }

    var isMapped: Bool { gtk_widget_get_mapped(widget) != 0 }

    var isLoading: Bool { view.isLoading }

    func clear() { view.showImage(nil) }
}
