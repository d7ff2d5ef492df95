import CGTK
import Halcyon

// The animation of a layer and the frames of its transition.
extension ImageLayer {
    /// Resumes or pauses the animation after a change of `isShown`.
    func visibilityChanged() {
        let wasShown = target.isVisible
        target.isVisible = isShown
        guard isShown != wasShown else { return }
        if isShown {
            if resumes { player?.play() }
            // Draws a frame that was sought while the view was hidden.
            if player?.needsTime == true { wake() }
            return
        }
        if let player {
            resumes = player.isPlaying
            // `stop()` may call the program's closure, which may start the animation again.
            player.stop()
        }
        timer.stop()
        ticks?.stop()
        endTransition()
    }

    /// Whether an animation is playing now.
    public var isPlaying: Bool { player?.isPlaying ?? false }

    /// Resumes the animation, or restarts it if it has ended. It plays once it is visible.
    public func play() {
        resumes = true
        if isShown { player?.play() }
    }

    /// Pauses the animation.
    ///
    /// - Parameter rewinding: whether `play()` restarts the animation from its beginning; false by default.
    public func stop(rewinding: Bool = false) {
        resumes = false
        player?.stop(rewinding: rewinding)
    }

    /// Returns the image of a content that continues the animation that plays while it is being downloaded; nil if the content
    /// is something else.
    func arriving(_ content: ImageTarget.Content) -> Image? {
        guard arrivingLoad == target.loadCount, let player, let image = content.image, image.animation != nil else {
            return nil
        }
        return image.size == player.posterImage.size ? image : nil
    }

    /// Updates an animation that plays while it is being downloaded with the frames that have arrived.
    ///
    /// - Returns: false if the content is something else.
    func continueAnimation(with content: ImageTarget.Content) -> Bool {
        guard let player, let image = arriving(content) else { return false }
        arrivingLoad = content.isPart ? target.loadCount : nil
        source = content.source ?? source
        player.update(image, isComplete: !content.isPart)
        return true
    }

    /// - Parameter drawsFormer: whether the current frame of a former player of the same source may be drawn at once; not
    ///   during a transition.
    func play(_ content: ImageTarget.Content, drawsFormer: Bool) {
        timer.stop()
        let former = content.source != nil && content.source == source ? player : nil
        let resumed = target.isVisible ? former?.isPlaying : resumes
        source = content.source
        let image = content.image
        // The former player must neither draw nor call back any more.
        player?.watcher = .init()
        player?.clock = nil
        player?.stop()
        player = image.flatMap {
            AnimatedImagePlayer($0, configuration: playback, isComplete: !content.isPart)
        }
        arrivingLoad = player != nil && content.isPart ? target.loadCount : nil
        defer { watchVisibility() }
        guard let player, let image else { return }
        player.watcher.frame = { [weak self, scale = target.scale(of: image)] in self?.draw($0, scale) }
        player.watcher.loop = { [weak self] in self?.onLoop?($0) }
        player.watcher.end = { [weak self] in
            self?.resumes = false
            self?.onAnimationEnd?()
        }
        player.onFrameReady = { [weak self] in MainInbox.shared.add { self?.wake() } }
        // The same source at another size, or with other processors, continues at the former position.
        if let former {
            player.takeOver(from: former)
            // Until the frame is decoded at the new size, that of the former player is shown.
            if drawsFormer, let frame = player.currentFrame, player.currentFrameIndex != 0 {
                draw(frame, target.scale(of: image) * Double(frame.width) / Double(image.width))
            }
        }
        player.clock = { .microseconds(g_get_monotonic_time()) }
        player.onWake = { [weak self] in self?.wake() }
        resumes = former == nil ? autoPlay : resumed ?? autoPlay
        if isShown, resumes { player.play() }
        if player.needsTime { wake() }
    }

    private func draw(_ frame: Image, _ scale: Double) {
        // Drawing a frame would end the transition; the next frame is drawn.
        guard transition == nil else { return }
        paintable.show(ImagePaintable.Picture(frame, scale: scale))
    }

    private func wake() {
        guard isShown else {
            // The program started the animation while the view is hidden: it plays once the view is visible.
            if let player, player.isPlaying {
                resumes = true
                player.stop()
            }
            return
        }
        timer.stop()
        ticks?.start()
    }

    /// - Returns: whether the next frame of the screen is needed too.
    func tick(_ time: Duration) -> Bool {
        if let transition, !transition.advance(to: time), self.transition === transition { self.transition = nil }
        // Drawing a frame during a transition would end it.
        if transition != nil { return true }
        guard let player, player.needsTime else { return false }
        player.advance(to: time)
        // A callback may have shown another image.
        guard self.player === player, transition == nil else { return true }
        guard let pause = player.timeToNextFrame else { return false }
        // Sleep until shortly before the frame is due, then take the screen's next frame.
        if pause < .milliseconds(25) { return true }
        timer.start(after: pause - .milliseconds(8)) { [weak self] in self?.ticks?.start() }
        return false
    }
}

extension ImageTarget.Content {
    /// Whether further parts of the image are to come.
    fileprivate var isPart: Bool {
        if case .preview(let preview) = self { !preview.isStale } else { false }
    }

    /// The source of the image; nil for content that is not the result of a load.
    fileprivate var source: ImageSource? {
        if case .image(let response) = self { response.source } else { nil }
    }
}
