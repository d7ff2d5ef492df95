import CGTK
import Foundation
import Halcyon
import HalcyonGTK

// The right-hand columns of docs/Migrating.md that are about GTK's widgets; `MigratingTests` looks for them here.

@MainActor private func imageViewExamples(_ url: URL) {
    let view = ImageView()
    view.setImage(from: url)
    view.background.setImage(from: url)
    view.highlight.setImage(from: url)
    view.loadingIndicator = .spinner
    var indicator = Indicator.spinner
    indicator.size = .fixed(width: 40, height: 40)
    indicator.offset = (x: 0, y: 20)
    view.loadingIndicator = indicator
    print(view.state)
    view.cancel()
}

/// The README's.
@MainActor private func shown(_ url: URL, in window: UnsafeMutablePointer<GtkWindow>) {
    let view = ImageView()
    gtk_window_set_child(window, view.widget)
    view.setImage(from: url, transition: .fade())
}

@MainActor private func zoomViewExamples() -> ZoomView {
    let zoomed = ZoomView()
    zoomed.zoom = 2
    return zoomed
}

private let viewTypes: [Any.Type] = [
    ImageView.self,
    ImageLayer.self,
    Indicator.self,
]

@MainActor private func animatedViewExamples() -> AnyObject? {
    let view = AnimatedImageView()
    view.playback.maximumBytesAhead = 2 << 20
    view.playback.pool = FramePool(limit: 16 << 20)
    view.playback.keepsFramesWhenStopped = true
    let player = view.player
    player?.purgeFrames()
    return player
}

@MainActor private func adoptedWidgetExamples(
    _ picture: UnsafeMutablePointer<GtkWidget>, _ button: UnsafeMutablePointer<GtkWidget>, _ url: URL
) {
    ImageView.of(picture)?.setImage(from: url)
    ImageButton.of(button)?.image(for: .active).setImage(from: url)
}
