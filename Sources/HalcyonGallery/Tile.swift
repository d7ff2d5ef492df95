import CGTK
import Halcyon
import HalcyonGTK

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

    var isLoading: Bool {
        if case .loading = view.state { true } else { false }
    }

    func clear() { view.showImage(nil) }
}
