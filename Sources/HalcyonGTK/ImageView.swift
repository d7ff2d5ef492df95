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
/// Images are loaded at the size of the view in pixels of its screen, unless a request has a size of its own: before the first
/// layout any size that is in memory is shown, and after a resize a larger image is asked for where the view has grown by a
/// quarter, once it has rested for 200 ms.
///
/// The object has its widget, and must be kept for as long as that is to show anything, or told to stay with it. Animations play while the view is on
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
    /// What tells that an image is loading; nil, the default, is nothing. For the next load.
    public var loadingIndicator: Indicator?
    /// Called when loading begins, goes on or ends.
    public var onStateChange: (@MainActor (ImageTarget.State) -> Void)?

    let paintable = ImagePaintable()
    private let area: ViewArea
    private let sizing = ViewSizing()
    private let settling = MainTimer()
    /// Of a load that waits for the first layout.
    private var waiting: (@MainActor (ImageTarget.End) -> Void)??
    /// What is shown is the image at another size, until the view has one.
    private var isStandIn = false
    private var placeholder: UnsafeMutablePointer<GtkWidget>?
    private var indicator: (kind: Indicator, widget: UnsafeMutablePointer<GtkWidget>)?
    private var ownsWidget = true
    /// The widget was destroyed while somebody still had this object.
    private var isGone = false
    /// Whether the animation was playing when the view went out of sight.
    private var resumes = false
    private var transition: TransitionRun?
    private var ticks: FrameTicks?
    private let timer = MainTimer()

    public init() {
        area = ViewArea(paintable)
        widget = gtk_overlay_new()
        g_object_ref_sink(widget)
        gtk_overlay_set_child(OpaquePointer(widget), area.widget)
        ticks = FrameTicks(area.widget) { [weak self] time in self?.tick(time) ?? false }
        Signal.connect(area.widget, "map") { [weak self] in self?.mapped() }
        Signal.connect(area.widget, "unmap") { [weak self] in self?.unmapped() }
        area.onResize = { [weak self] in self?.resized() }
    }

    isolated deinit {
        settling.stop()
        timer.stop()
        ticks?.stop()
        endWaiting(.cancelled)
        transition?.end()
        if ownsWidget { g_object_unref(widget) }
    }

    /// Hands this object over to its widget, which keeps it until it is destroyed. For a widget that is about to get a
    /// parent: nobody else may have a reference to it.
    public func staysWithItsWidget() {
        guard ownsWidget else { return }
        ownsWidget = false
        Signal.connect(widget, "destroy") {
            (self.placeholder, self.indicator, self.isGone) = (nil, nil, true)
        }
        g_object_force_floating(UnsafeMutableRawPointer(widget).assumingMemoryBound(to: GObject.self))
    }

    /// Loads the image of a URL and shows it, instead of whatever was loading or shown.
    ///
    /// - Parameters:
    ///   - url: nil shows the placeholder and ends in `.failed`.
    ///   - completion: called once, with the image on the view.
    public func setImage(
        from url: URL?, placeholder: ImageTarget.Placeholder? = nil, indicator: Indicator? = nil,
        transition: ImageTransition? = nil, processors: [any ImageProcessor]? = nil,
        pipeline: ImagePipeline = .shared, completion: (@MainActor (ImageTarget.End) -> Void)? = nil
    ) {
        if let indicator { loadingIndicator = indicator }
        setImage(
            ImageRequest(url, processors: processors), options: .init(placeholder: placeholder, transition: transition),
            pipeline: pipeline,
            completion: completion)
    }

    /// The same, with all that a request and the options can say.
    public func setImage(
        _ request: ImageRequest, options: ImageTarget.Options = .init(), pipeline: ImagePipeline = .shared,
        completion: (@MainActor (ImageTarget.End) -> Void)? = nil
    ) {
        let former = waiting ?? nil
        (waiting, isStandIn) = (nil, false)
        settling.stop()
        sizing.begin(.init(request: request, options: options, pipeline: pipeline))
        load(completion)
        former?(.superseded)
    }

    /// Shows an image that the program has, instead of whatever was loading or shown; nil shows nothing.
    public func showImage(_ image: Image?) {
        settling.stop()
        let waiting = waiting ?? nil
        self.waiting = nil
        sizing.begin(nil)
        target.show(image)
        waiting?(.superseded)
    }

    /// Ends the load that is under way; what is seen stays.
    public func cancel() {
        settling.stop()
        let waiting = waiting ?? nil
        self.waiting = nil
        if case .loading = target.state { sizing.begin(nil) }
        target.cancel()
        waiting?(.cancelled)
    }
}

// MARK: - Sizes

extension ImageView {
    private func load(_ completion: (@MainActor (ImageTarget.End) -> Void)?) {
        guard let wish = sizing.wish, let request = sizing.request(for: area.pixels, fit: contentFit) else { return }
        guard sizing.waits(for: area.pixels) else {
            var options = wish.options
            if isStandIn { (options.keepsCurrent, options.transition) = (true, nil) }
            isStandIn = false
            return target.setImage(request, options: options, pipeline: wish.pipeline, completion: completion)
        }
        waiting = .some(completion)
        isStandIn = wish.pipeline.cache.image(inMemoryFor: request) != nil
        if isStandIn {
            target.setImage(request, options: wish.options, pipeline: wish.pipeline)
        } else {
            target.await(wish.options)
        }
    }

    private func resized() {
        if let completion = waiting {
            waiting = nil
            return load(completion)
        }
        // Not again for each step of a resize.
        guard sizing.isOutgrown(by: area.pixels, fit: contentFit) else { return settling.stop() }
        settle()
    }

    private func settle() {
        settling.start(after: .milliseconds(200)) { [weak self] in self?.outgrown() }
    }

    private func outgrown() {
        // A load that is under way is not broken off for a larger one.
        if case .loading = target.state { return settle() }
        guard sizing.isOutgrown(by: area.pixels, fit: contentFit), let wish = sizing.wish,
            let request = sizing.request(for: area.pixels, fit: contentFit)
        else { return }
        var options = wish.options
        (options.keepsCurrent, options.transition) = (true, nil)
        target.setImage(request, options: options, pipeline: wish.pipeline)
    }

    private func endWaiting(_ end: ImageTarget.End) {
        let completion = waiting ?? nil
        waiting = nil
        completion?(end)
    }
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
        guard isMapped, Self.isAnimationEnabled(area.widget) else {
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
        halcyon_set_busy(area.widget, isBusy ? 1 : 0)
        if case .loading(let progress) = state {
            showIndicator(progress?.fraction, hasBegun: progress != nil)
        } else {
            removeIndicator()
        }
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
        guard !isGone, case .placeholder(.custom(let custom)) = content, let custom = custom as? WidgetPlaceholder
        else {
            return
        }
        let widget = custom.make()
        gtk_overlay_add_overlay(OpaquePointer(self.widget), widget)
        placeholder = widget
    }

    private func showIndicator(_ progress: Double?, hasBegun: Bool) {
        if indicator == nil, !isGone, let kind = loadingIndicator {
            let widget = kind.make()
            gtk_overlay_add_overlay(OpaquePointer(self.widget), widget)
            indicator = (kind, widget)
        }
        if hasBegun, let indicator { indicator.kind.update(indicator.widget, progress) }
    }

    private func removeIndicator() {
        guard let indicator else { return }
        self.indicator = nil
        gtk_overlay_remove_overlay(OpaquePointer(widget), indicator.widget)
    }

    private func endTransition() {
        let transition = transition
        self.transition = nil
        transition?.end()
    }

    private var isMapped: Bool { gtk_widget_get_mapped(area.widget) != 0 }

    /// What the user has chosen for the whole desktop.
    private static func isAnimationEnabled(_ widget: UnsafeMutablePointer<GtkWidget>) -> Bool {
        halcyon_animations_enabled(widget) != 0
    }
}

// MARK: - The passing of time

extension ImageView {
    private func mapped() {
        target.priority = nil
        if resumes { player?.play() }
    }

    private func unmapped() {
        // It may come back: its load goes on, behind those of what is seen.
        target.priority = .low
        resumes = player?.isPlaying == true
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
        player.onFrameReady = { [weak self] in MainInbox.shared.add { self?.wake() } }
        player.onWake = { [weak self] in self?.wake() }
        resumes = true
        if isMapped { player.play() }
    }

    private func wake() {
        guard isMapped else { return }
        timer.stop()
        ticks?.start()
    }

    /// - Returns: whether the next frame of the screen is wanted too.
    private func tick(_ time: Duration) -> Bool {
        if let transition, !transition.advance(to: time), self.transition === transition { self.transition = nil }
        // A frame that comes during a transition would end it.
        if transition != nil { return true }
        guard let player, player.needsTime else { return false }
        player.advance(to: time)
        // A callback may have brought another image.
        guard self.player === player, transition == nil else { return true }
        guard let pause = player.timeToNextFrame else { return false }
        // Sleep until shortly before the frame is due, then take the screen's next one.
        if pause < .milliseconds(25) { return true }
        timer.start(after: pause - .milliseconds(8)) { [weak self] in self?.ticks?.start() }
        return false
    }
}
