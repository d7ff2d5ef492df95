import CGTK
import CHalcyonGTK
import Foundation
import Halcyon

/// Shows one image of a URL, still or animated, in a GTK window.
///
///     let view = ImageView()
///     gtk_window_set_child(window, view.widget)
///     view.setImage(from: url, placeholder: .image(grey), transition: .fade())
///
/// The object has its widget, and must be kept for as long as that is to show anything. Animations play while the view is on
/// screen, and take neither time nor frames while it is not. Call `GTKMainLoop.attach()` before GTK's loop runs.
@MainActor public final class ImageView {
    /// A `GtkOverlay`, kept by this object: put it where any widget goes.
    public let widget: UnsafeMutablePointer<GtkWidget>
    /// What is loading or shown.
    public private(set) lazy var target = ImageTarget(surface: self)
    /// `.contain` by default.
    public var contentFit: ContentFit = .contain {
        didSet { paintable.contentFit = contentFit }
    }
    /// How animations are played; as their files say, by default. For the next image.
    public var playback = AnimatedImagePlayer.Configuration()
    /// Plays the animation that is shown; nil for a still image.
    public private(set) var player: AnimatedImagePlayer?
    /// Called when loading begins, goes on or ends.
    public var onStateChange: (@MainActor (ImageTarget.State) -> Void)?

    let paintable = ImagePaintable()
    private let picture: UnsafeMutablePointer<GtkWidget>
    private var placeholder: UnsafeMutablePointer<GtkWidget>?
    private var transition: TransitionRun?
    private var ticks: FrameTicks?
    private let timer = MainTimer()

    public init() {
        picture = gtk_picture_new_for_paintable(paintable.pointer)
        // The paintable fits its content itself, the old and the new one of a transition each.
        gtk_picture_set_content_fit(OpaquePointer(picture), GTK_CONTENT_FIT_FILL)
        widget = gtk_overlay_new()
        g_object_ref_sink(widget)
        gtk_overlay_set_child(OpaquePointer(widget), picture)
        ticks = FrameTicks(picture) { [weak self] time in self?.tick(time) ?? false }
        Signal.connect(picture, "map") { [weak self] in self?.mapped() }
        Signal.connect(picture, "unmap") { [weak self] in self?.unmapped() }
    }

    isolated deinit {
        timer.stop()
        ticks?.stop()
        transition?.end()
        g_object_unref(widget)
    }

    /// Loads the image of a URL and shows it, instead of whatever was loading or shown.
    ///
    /// - Parameters:
    ///   - url: nil shows the placeholder and ends in `.failed`.
    ///   - completion: called once, with the image on the view.
    public func setImage(
        from url: URL?, placeholder: ImageTarget.Placeholder? = nil, transition: ImageTransition? = nil,
        pipeline: ImagePipeline = .shared, completion: (@MainActor (ImageTarget.End) -> Void)? = nil
    ) {
        setImage(
            ImageRequest(url), options: .init(placeholder: placeholder, transition: transition), pipeline: pipeline,
            completion: completion)
    }

    /// The same, with all that a request and the options can say.
    public func setImage(
        _ request: ImageRequest, options: ImageTarget.Options = .init(), pipeline: ImagePipeline = .shared,
        completion: (@MainActor (ImageTarget.End) -> Void)? = nil
    ) {
        target.setImage(request, options: options, pipeline: pipeline, completion: completion)
    }

    /// Ends the load that is under way; what is seen stays.
    public func cancel() { target.cancel() }
}

// MARK: - What is seen

extension ImageView: ImageSurface {
    public func show(_ content: ImageTarget.Content) {
        endTransition()
        showPlaceholder(content)
        switch content {
        case .preview(let preview): show(preview.bitmap, scale: preview.scale)
        default: show(content.image?.bitmap, scale: content.image?.scale ?? 1)
        }
        play(content.image)
    }

    public func show(
        _ response: ImageResponse, by transition: ImageTransition, completion: @escaping @MainActor () -> Void
    ) {
        guard isMapped, Self.isAnimationEnabled(picture) else {
            show(.image(response))
            return completion()
        }
        endTransition()
        showPlaceholder(.image(response))
        let image = response.image
        paintable.begin(ImageTexture(image.bitmap), scale: image.scale, transition.style)
        self.transition = TransitionRun(transition, of: self, completion: completion)
        play(image)
        ticks?.start()
    }

    public func stateChanged(_ state: ImageTarget.State) {
        let isBusy = if case .loading = state { true } else { false }
        halcyon_set_busy(widget, isBusy ? 1 : 0)
        onStateChange?(state)
    }

    private func show(_ bitmap: Bitmap?, scale: Double) {
        paintable.show(bitmap.map { ImageTexture($0) }, scale: scale)
    }

    private func showPlaceholder(_ content: ImageTarget.Content) {
        if let placeholder {
            gtk_overlay_remove_overlay(OpaquePointer(widget), placeholder)
            self.placeholder = nil
        }
        guard case .placeholder(.custom(let custom)) = content, let custom = custom as? WidgetPlaceholder else {
            return
        }
        let widget = custom.make()
        gtk_overlay_add_overlay(OpaquePointer(self.widget), widget)
        placeholder = widget
    }

    private func endTransition() {
        let transition = transition
        self.transition = nil
        transition?.end()
    }

    private var isMapped: Bool { gtk_widget_get_mapped(picture) != 0 }

    /// What the user has chosen for the whole desktop.
    private static func isAnimationEnabled(_ widget: UnsafeMutablePointer<GtkWidget>) -> Bool {
        halcyon_animations_enabled(widget) != 0
    }
}

// MARK: - The passing of time

extension ImageView {
    private func mapped() {
        player?.play()
        if player != nil { ticks?.start() }
    }

    private func unmapped() {
        player?.stop()
        timer.stop()
        ticks?.stop()
        endTransition()
    }

    private func play(_ image: Image?) {
        timer.stop()
        player?.stop()
        player = image.flatMap { AnimatedImagePlayer($0, configuration: playback) }
        guard let player else { return }
        player.onFrame = { [weak self] image, _ in self?.show(image.bitmap, scale: image.scale) }
        player.onFrameReady = { [weak self] in MainInbox.shared.add { self?.ticks?.start() } }
        if isMapped {
            player.play()
            ticks?.start()
        }
    }

    /// - Returns: whether the next frame of the screen is wanted too.
    private func tick(_ time: Duration) -> Bool {
        var isWanted = false
        if let transition {
            isWanted = transition.advance(to: time)
            if !isWanted, self.transition === transition { self.transition = nil }
        }
        guard let player, player.isPlaying else { return isWanted }
        // A frame that comes during a transition would end it.
        if isWanted { return true }
        player.advance(to: time)
        guard let pause = player.timeToNextFrame else { return false }
        // Sleep until shortly before the frame is due, then take the screen's next one.
        if pause < .milliseconds(25) { return true }
        timer.start(after: pause - .milliseconds(8)) { [weak self] in self?.ticks?.start() }
        return false
    }
}
