import CGTK
import Foundation
import Halcyon
import HalcyonGTK

/// One picture: as large as wanted, changed as wanted, and played as wanted.
@MainActor final class DetailPage {
    let widget: Widget
    private let view = AnimatedImageView()
    private let adjustments = Adjustments()
    private let facts = Make.label("", class: "dim-label")
    private let title = Make.label("", class: "title-2")
    private let playing = PlayerControls()
    private let pipeline: ImagePipeline
    private var picture: Picture?
    private var zoom = 1.0

    init(_ pipeline: ImagePipeline) {
        self.pipeline = pipeline
        view.loadingIndicator = .progressBar
        view.repeatCount = .infinite
        gtk_label_set_wrap(facts.opaque, 1)
        gtk_label_set_ellipsize(facts.opaque, PANGO_ELLIPSIZE_NONE)
        let sidebar = Make.box(GTK_ORIENTATION_VERTICAL, spacing: 18, []).margins(18)
        let column = Make.scrolled(sidebar).expanding(across: false)
        gtk_scrolled_window_set_policy(column.opaque, GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC)
        gtk_widget_set_size_request(column, 340, -1)
        widget = Make.box(
            GTK_ORIENTATION_HORIZONTAL,
            [
                Make.scrolled(view.widget.expanding()).addClass("stage"),
                gtk_separator_new(GTK_ORIENTATION_VERTICAL), column,
            ])
        let slider = Make.slider(0.25...4, step: 0.25, at: 1) { [weak self] in self?.zoom(to: $0) }
        for section in [
            Make.box(GTK_ORIENTATION_VERTICAL, spacing: 4, [title, facts]),
            Make.section("View", [Make.row("Zoom", slider)]), adjustments.widget, playing.widget,
        ] { gtk_box_append(sidebar.cast(), section) }
        adjustments.onChange = { [weak self] in self?.load() }
        view.onStateChange = { [weak self] in self?.changed($0) }
    }

    func show(_ picture: Picture) {
        self.picture = picture
        adjustments.reset()
        gtk_label_set_text(title.opaque, picture.title)
        view.accessibleLabel = picture.title
        view.setImage(
            from: picture.url, placeholder: .cached(ImageRequest(picture.url), in: pipeline), transition: .fade(),
            pipeline: pipeline)
    }

    var isLoading: Bool {
        if case .loading = view.state { true } else { false }
    }

    func clear() {
        picture = nil
        view.showImage(nil)
        playing.follow(nil)
    }

    /// The same picture, changed: what is seen stays until that is there.
    private func load() {
        guard let picture else { return }
        view.setImage(
            ImageRequest(picture.url, processors: adjustments.processors), options: .init(keepsCurrent: true),
            pipeline: pipeline)
    }

    /// The view asks for a larger picture by itself once it has grown.
    private func zoom(to factor: Double) {
        zoom = factor
        guard let size = view.content.image?.info.size, factor != 1 else {
            return gtk_widget_set_size_request(view.widget, -1, -1)
        }
        gtk_widget_set_size_request(
            view.widget, Int32(Double(size.width) * factor), Int32(Double(size.height) * factor))
    }

    private func changed(_ state: ImageTarget.State) {
        switch state {
        case .showing(let response):
            gtk_label_set_text(facts.opaque, Facts.text(of: response))
            playing.follow(view.player)
        case .failed(let error): gtk_label_set_text(facts.opaque, "\(error)")
        case .empty, .loading: playing.follow(nil)
        }
    }
}
