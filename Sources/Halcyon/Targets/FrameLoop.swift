import HalcyonImage
import HalcyonSystem

/// The player of a target's content, driven by a clock in the place of a screen's.
@MainActor final class FrameLoop {
    /// The player of the animation that is shown; nil for a still image.
    private(set) var player: AnimatedImagePlayer?
    /// Called after each frame.
    var onFrame: (@MainActor () -> Void)?
    /// Whether frames can be seen; otherwise the animation pauses.
    var isVisible = true {
        didSet { if isVisible != oldValue { visibilityChanged() } }
    }

    private let time: TimeSource
    /// The source of the image that is shown; nil while none is.
    private var source: ImageSource?
    /// The number of the load that still delivers frames of the animation; nil if none does.
    private var arrivingLoad: Int?
    /// Whether the animation is to play once it is visible.
    private var resumes = false
    /// The wait for the next frame.
    private var timer: Task<Void, Never>?
    /// The number of contents so far: it shows whether a callback has replaced the content.
    private var contentCount = 0

    init(time: TimeSource) {
        self.time = time
    }

    isolated deinit {
        timer?.cancel()
    }

    /// Plays the animation of a content from now on. An animation that is arriving goes on with the frames that have come, and
    /// one that is loaded again, such as at another size, continues at the position of the former.
    ///
    /// - Parameters:
    ///   - load: the number of the load that the content belongs to.
    ///   - configuration: nil plays nothing.
    func show(_ content: ImageTarget.Content, ofLoad load: Int, configuration: AnimatedImagePlayer.Configuration?) {
        let image = configuration == nil ? nil : content.image
        if let player, let image, arrivingLoad == load, image.animation != nil, image.size == player.posterImage.size {
            arrivingLoad = content.isArriving ? load : nil
            source = content.loadedSource ?? source
            return player.update(image, isComplete: !content.isArriving)
        }
        let former = content.loadedSource != nil && content.loadedSource == source ? player : nil
        let isResumed = isVisible ? former?.isPlaying : resumes
        contentCount += 1
        let count = contentCount
        endPlayer()
        guard count == contentCount else { return }
        source = content.loadedSource
        player = image.flatMap {
            AnimatedImagePlayer($0, configuration: configuration ?? .init(), isComplete: !content.isArriving)
        }
        arrivingLoad = player != nil && content.isArriving ? load : nil
        guard let player else { return }
        player.watcher.frame = { [weak self] _ in self?.onFrame?() }
        player.watcher.end = { [weak self] in self?.resumes = false }
        player.onFrameReady = { [weak self] in MainInbox.shared.add { self?.step() } }
        if let former { player.takeOver(from: former) }
        player.clock = { [time] in time.steady }
        player.onWake = { [weak self] in self?.wait(for: .zero) }
        resumes = former == nil ? true : isResumed ?? true
        if isVisible, resumes { player.play() }
        if player.needsTime { wait(for: .zero) }
    }

    /// Ends the player, which shows no further frame. It may call the program's closure for its end, which may show something else.
    private func endPlayer() {
        timer?.cancel()
        timer = nil
        guard let player else { return }
        player.watcher = .init()
        (player.clock, player.onWake) = (nil, nil)
        self.player = nil
        player.stop()
    }

    private func visibilityChanged() {
        guard let player else { return }
        if isVisible {
            if resumes { player.play() }
            if player.needsTime { wait(for: .zero) }
        } else {
            resumes = player.isPlaying
            player.stop()
            timer?.cancel()
            timer = nil
        }
    }

    private func step() {
        timer?.cancel()
        timer = nil
        guard let player else { return }
        guard isVisible else {
            // The program started the animation while it could not be seen.
            if player.isPlaying {
                resumes = true
                player.stop()
            }
            return
        }
        guard player.needsTime else { return }
        player.advance(to: time.steady)
        // A callback may have shown another image, or changed the playback.
        guard self.player === player, timer == nil, let pause = player.timeToNextFrame else { return }
        wait(for: pause)
    }

    /// Takes the next step after a pause. It is never taken within the caller's work, which may be the player's.
    private func wait(for pause: Duration) {
        timer?.cancel()
        timer = Task { [weak self, time] in
            if pause > .zero {
                do { try await time.wait(for: pause) } catch { return }
            }
            if !Task.isCancelled { self?.step() }
        }
    }
}

extension ImageTarget.Content {
    /// Whether further parts of the image are to come.
    fileprivate var isArriving: Bool {
        if case .preview(let preview) = self { !preview.isStale } else { false }
    }

    /// The source of the image; nil for content that is not the result of a load.
    fileprivate var loadedSource: ImageSource? {
        if case .image(let response) = self { response.source } else { nil }
    }
}
