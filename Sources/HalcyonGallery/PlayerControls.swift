import CGTK
import Halcyon
import HalcyonGTK

/// The controls that play, stop, seek and change the speed of an animation; hidden for a still image.
@MainActor final class PlayerControls {
    let widget: Widget
    private var player: AnimatedImagePlayer?
    private let frames: Widget
    private let rate: Widget
    private var isFollowing = false
    private var following: Task<Void, Never>?

    init() {
        let section = Make.section("Animation", [])
        rate = Make.slider(0.25...4, step: 0.25, at: 1) { _ in }
        let frames = Make.slider(0...1, step: 1, at: 0) { _ in }
        (widget, self.frames) = (section, frames)
        gtk_scale_set_digits(frames.cast(), 0)
        Signal(frames, "value-changed") { [weak self] in self?.seek() }
        gtk_box_append(
            section.cast(),
            Make.box(
                GTK_ORIENTATION_HORIZONTAL, spacing: 6,
                [
                    Make.iconButton("media-playback-start-symbolic", tip: "Play") { [weak self] in
                        self?.player?.play()
                    },
                    Make.iconButton("media-playback-pause-symbolic", tip: "Stop") { [weak self] in
                        self?.player?.stop()
                    },
                ]))
        gtk_box_append(section.cast(), Make.row("Frame", frames))
        Signal(rate, "value-changed") { [weak self] in self?.changeRate() }
        gtk_box_append(section.cast(), Make.row("Speed", rate))
        gtk_widget_hide(section)
    }

    func follow(_ player: AnimatedImagePlayer?) {
        self.player = player
        following?.cancel()
        following = nil
        if let player {
            isFollowing = true
            defer { isFollowing = false }
            gtk_range_set_value(rate.cast(), player.rate)
            gtk_range_set_range(frames.cast(), 0, Double(max(1, player.frameCount - 1)))
            gtk_widget_show(widget)
            following = Task { [weak self] in
                while !Task.isCancelled {
                    self?.tick()
                    try? await Task.sleep(for: .milliseconds(100))
                }
            }
        } else {
            gtk_widget_hide(widget)
        }
    }

    /// Moves the slider along with the animation.
    private func tick() {
        guard let player else { return }
        isFollowing = true
        gtk_range_set_value(frames.cast(), Double(player.currentFrameIndex))
        isFollowing = false
    }

    private func changeRate() {
        if !isFollowing { player?.rate = gtk_range_get_value(rate.cast()) }
    }

    private func seek() {
        guard !isFollowing else { return }
        player?.stop()
        player?.seek(to: Int(gtk_range_get_value(frames.cast())))
    }
}
