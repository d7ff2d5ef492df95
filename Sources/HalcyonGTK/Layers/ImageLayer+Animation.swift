import CGTK
import Halcyon

// The passing of time: the animation that a layer plays, and the frames of its transition.
extension ImageLayer {
    /// The view has come into sight or has left it.
    func sightChanged() {
        let wasShown = target.isSeen
        target.isSeen = isShown
        guard isShown != wasShown else { return }
        if isShown {
            if resumes { player?.play() }
            // A frame that was sought meanwhile is drawn now.
            if player?.needsTime == true { wake() }
            return
        }
        if let player {
            resumes = player.isPlaying
            // Which may tell of its end, whereupon the program may have it play again.
            player.stop()
        }
        timer.stop()
        ticks?.stop()
        endTransition()
    }

    /// Goes on with the animation, once it is seen.
    func play() {
        resumes = true
        if isShown { player?.play() }
    }

    /// Stands still.
    func stop(rewinding: Bool) {
        resumes = false
        player?.stop(rewinding: rewinding)
    }

    /// More of the animation that plays while it arrives; nil where it is something else.
    func arriving(_ content: ImageTarget.Content) -> Image? {
        guard arrivingLoad == target.loadCount, let player, let image = content.image, image.animation != nil else {
            return nil
        }
        return image.size == player.posterImage.size ? image : nil
    }

    /// Gives an animation that plays while it arrives what has come since.
    ///
    /// - Returns: false where it is something else.
    func goesOn(with content: ImageTarget.Content) -> Bool {
        guard let player, let image = arriving(content) else { return false }
        arrivingLoad = content.isPart ? target.loadCount : nil
        source = content.source ?? source
        player.update(image, isComplete: !content.isPart)
        return true
    }

    /// - Parameter drawsFormer: whether the frame of a former player of the same may be drawn at once; not in a transition.
    func play(_ content: ImageTarget.Content, drawsFormer: Bool) {
        timer.stop()
        let former = content.source != nil && content.source == source ? player : nil
        let resumed = target.isSeen ? former?.isPlaying : resumes
        source = content.source
        let image = content.image
        // Nothing of it is to be drawn any more, nor told in the middle of this.
        player?.watcher = .init()
        player?.clock = nil
        player?.stop()
        player = image.flatMap {
            AnimatedImagePlayer($0, configuration: playback, isComplete: !content.isPart)
        }
        arrivingLoad = player != nil && content.isPart ? target.loadCount : nil
        defer { watchSight() }
        guard let player, let image else { return }
        player.watcher.frame = { [weak self, scale = target.scale(of: image)] in self?.draw($0, scale) }
        player.watcher.loop = { [weak self] in self?.onLoop?($0) }
        player.watcher.end = { [weak self] in
            self?.resumes = false
            self?.onAnimationEnd?()
        }
        player.onFrameReady = { [weak self] in MainInbox.shared.add { self?.wake() } }
        // The same at another size, or with other processors, goes on where it was.
        if let former {
            player.takeOver(from: former)
            // Until it is there at the new size, the frame is that of the former one.
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
        // It would end the transition; the next one is drawn.
        guard transition == nil else { return }
        var picture = ImagePaintable.Picture(frame)
        picture.scale = scale
        paintable.show(picture)
    }

    private func wake() {
        guard isShown else {
            // It was told to play while nobody sees it: it does once somebody does.
            if let player, player.isPlaying {
                resumes = true
                player.stop()
            }
            return
        }
        timer.stop()
        ticks?.start()
    }

    /// - Returns: whether the next frame of the screen is wanted too.
    func tick(_ time: Duration) -> Bool {
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

extension ImageTarget.Content {
    /// More of it is to come.
    fileprivate var isPart: Bool {
        if case .preview(let preview) = self { !preview.isStale } else { false }
    }

    /// Nil for what no load has brought.
    fileprivate var source: ImageSource? {
        if case .image(let response) = self { response.source } else { nil }
    }
}
