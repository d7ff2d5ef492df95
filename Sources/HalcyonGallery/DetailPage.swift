import CGTK
import Foundation
import Halcyon
import HalcyonGTK

/// The page of a single picture, with zoom, processors and controls of an animation.
@MainActor final class DetailPage {
    let widget: Widget
    private let view = AnimatedImageView()
    private let zoomed: ZoomView
    private let slider: Widget
    private let adjustments = Adjustments()
    private let facts = Make.label("", class: "dim-label")
    private let title = Make.label("", class: "title-2")
    private let playing = PlayerControls()
    private let pipeline: ImagePipeline
    private var picture: Picture?
    private var isFollowing = false

    init(_ pipeline: ImagePipeline) {
        self.pipeline = pipeline
        zoomed = ZoomView(view)
        slider = Make.slider(1...32, step: 0.5, at: 1) { _ in }
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
                zoomed.widget.expanding().addClass("stage"),
                gtk_separator_new(GTK_ORIENTATION_VERTICAL), column,
            ])
        for section in [
            Make.box(GTK_ORIENTATION_VERTICAL, spacing: 4, [title, facts]),
            Make.section("View", [Make.row("Zoom", slider)]), adjustments.widget, playing.widget,
        ] { gtk_box_append(sidebar.cast(), section) }
        Signal(slider, "value-changed") { [weak self] in self?.zoom() }
        adjustments.onChange = { [weak self] in self?.load() }
        zoomed.onChange = { [weak self] in self?.follow() }
        view.onStateChange = { [weak self] in self?.changed($0) }
    }

    func show(_ picture: Picture) {
        self.picture = picture
        adjustments.reset()
        zoomed.zoom = nil
        gtk_label_set_text(title.opaque, picture.title)
        view.accessibleLabel = picture.title
        view.setImage(
            from: picture.url, placeholder: .cached(ImageRequest(picture.url), in: pipeline), transition: .fade(),
            pipeline: pipeline)
    }

    var isLoading: Bool { view.isLoading }

    func clear() {
        picture = nil
        view.showImage(nil)
        playing.follow(nil)
    }

    /// Loads the picture with the present processors; the current image stays until the new one is ready.
    private func load() {
        guard let picture else { return }
        view.setImage(
            ImageRequest(picture.url, processors: adjustments.processors), options: .init(keepsCurrent: true),
            pipeline: pipeline)
    }

    /// - Parameter factor: A multiple of the size at which the whole picture fits.
    func zoom(to factor: Double) { gtk_range_set_value(slider.cast(), factor) }

    private func zoom() {
        guard !isFollowing else { return }
        let factor = gtk_range_get_value(slider.cast())
        zoomed.zoom = factor > 1 ? zoomed.fittingZoom.map { $0 * factor } : nil
    }

    /// Moves the slider along, as the wheel and the window's size change the zoom too.
    private func follow() {
        guard let shown = zoomed.shownZoom, let fitting = zoomed.fittingZoom else { return }
        isFollowing = true
        zoom(to: shown / fitting)
        isFollowing = false
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

/// Formats the facts about an image and its load.
enum Facts {
    static func text(of response: ImageResponse) -> String {
        let (image, metrics) = (response.image, response.metrics)
        var lines = [
            "\(image.info.format.name.uppercased()), \(image.info.size.width) x \(image.info.size.height) pixels",
            "on the view \(image.width) x \(image.height)",
            "from \(response.origin.rawValue) in \(milliseconds(metrics.total))",
        ]
        if let animation = image.animation { lines.append("\(animation.frameCount) frames") }
        if let bytes = metrics.bytes { lines.append(self.bytes(bytes)) }
        if let decode = metrics.decode { lines.append("decoded in \(milliseconds(decode))") }
        if let process = metrics.process { lines.append("processed in \(milliseconds(process))") }
        return lines.joined(separator: "\n")
    }

    static func bytes(_ count: Int) -> String {
        count < 1 << 20 ? "\(oneDigit(Double(count) / 1024)) KiB" : "\(oneDigit(Double(count) / 1_048_576)) MiB"
    }

    private static func milliseconds(_ duration: Duration) -> String {
        "\(oneDigit(duration / .milliseconds(1))) ms"
    }

    private static func oneDigit(_ value: Double) -> String { String((value * 10).rounded() / 10) }
}
