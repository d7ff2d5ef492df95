import HalcyonImage
import HalcyonSystem

/// A player that selects the frame of an animation that is due, and has it decoded by then.
///
/// It has no clock. The owner that shows the frames, a view with its frame clock or a test, calls `advance(to:)`; a program
/// without a screen reads `AnimatedImage.frames`. A player belongs to one thread or actor; frames are decoded on others.
///
///     let player = AnimatedImagePlayer(image)
///     player?.onFrame = { frame, index in show(frame) }
///     player?.play()
///     player?.advance(to: time)       // again once `timeToNextFrame` has passed, or `onFrameReady` was called
///
/// Frames whose time has passed are skipped: an animation never lags, and never shows a frame after a later one. A player holds
/// the frame that is shown and those decoded ahead, out of the `FramePool`; while it is stopped, only the frame that is shown,
/// unless its configuration keeps the others.
public final class AnimatedImagePlayer {
    /// The image's own pixels, which are its first frame.
    public private(set) var posterImage: Image
    /// The frame to show; nil only with a transformer, until its first frame has been decoded.
    public private(set) var currentFrame: Image?
    /// The index of `currentFrame`.
    public private(set) var currentFrameIndex = 0
    /// Whether it plays: after `play()`, until `stop()` or the end of the last loop.
    public private(set) var isPlaying = false

    /// Called by `advance(to:)` for each frame that is shown, with its index; in a view, after the view has shown it.
    public var onFrame: ((Image, Int) -> Void)?
    /// Called by `advance(to:)` when a loop ends, with the number of remaining loops, nil for ever; once for several loops that
    /// have ended together.
    public var onLoop: ((Int?) -> Void)?
    /// Called by `advance(to:)` when the last loop ends. The last frame stays.
    public var onEnd: (() -> Void)?
    /// Called by `advance(to:)` for a frame that could not be decoded, with its index; the previous frame stays.
    public var onFailure: (((any Error), Int) -> Void)?
    /// Called when `advance(to:)` is due sooner than announced, because the playback has changed.
    package var onWake: (() -> Void)?
    /// The time that a view would pass to `advance(to:)`; without a clock, no time passes between two calls.
    package var clock: (() -> Duration)?
    /// The closures of a view, called before those of the program.
    package var watcher = Watcher()
    /// Called on any thread when a frame that was due has been decoded: `advance(to:)` should be called soon.
    public var onFrameReady: (@Sendable () -> Void)?

    /// The speed of the playback: 1 by default, at most 1,000. Values below a thousandth count as 0, which stands still.
    public var rate: Double {
        willSet { catchUp() }
        didSet {
            rate = Self.playable(rate)
            onWake?()
        }
    }

    /// The greatest number of frames that are shown in a second; nil, the default, does not limit it.
    public var maximumFrameRate: Double? {
        didSet { onWake?() }
    }

    /// The configuration with which the player was made.
    public let configuration: Configuration

    private let pool: FramePool
    var buffer: FrameBuffer
    var playback: Playback
    /// The time of the last `advance(to:)`; nil before the first one since `play()`.
    private var lastTime: Duration?
    /// The time at which `currentFrame` was shown, and its tick.
    private var shownAt: Duration?
    private(set) var shownTick: Int?
    /// The frames that were requested from the buffer.
    var requested: [Int] = []
    /// Whether time stands still until the due frame is decoded: at the start and after a seek.
    private(set) var awaitsFrame = false
    /// Whether no call of `advance(to:)` was scheduled: the time until the next call does not count.
    private var wasIdle = false
    /// Whether the due frame was not decoded yet; `onFrameReady` will report it.
    var isWaiting = false
    private var hasSought = false
    private var failedTick: Int?
    private var isAdvancing = false
    /// The number of changes of the playback. After a callback that causes one, `advance(to:)` makes no further callbacks.
    private var generation = 0

    /// Creates a player of an image's animation, which does not play yet.
    ///
    /// - Parameters:
    ///   - isComplete: false for a preview, whose last frame stays until `update(_:isComplete:)` brings more.
    ///   - pool: the pool that keeps decoded frames; nil, the default, takes the configuration's.
    /// - Returns: nil for a still image.
    public init?(
        _ image: Image, configuration: Configuration = Configuration(), isComplete: Bool = true,
        pool: FramePool? = nil
    ) {
        guard let animation = image.animation else { return nil }
        self.configuration = configuration
        let pool = pool ?? configuration.pool
        self.pool = pool
        rate = Self.playable(configuration.rate)
        maximumFrameRate = configuration.maximumFrameRate
        posterImage = image.replacing(image.bitmap)
        if configuration.transformer == nil { currentFrame = posterImage }
        buffer = pool.buffer(of: image, animation, transformer: configuration.transformer)
        playback = Self.playback(animation, configuration, isComplete: isComplete)
        currentFrameIndex = configuration.transformer == nil ? 0 : playback.frame
    }

    deinit {
        releaseAllFrames()
    }

    /// The number of frames that have arrived.
    public var frameCount: Int { playback.frameCount }

    /// The number of remaining loops, including the current one; nil for ever.
    public var loopsRemaining: Int? { playback.loopsRemaining }

    /// Whether the last loop has ended.
    public var isOver: Bool { playback.isOver && !isPlaying }

    /// Starts or continues the playback, from the beginning if it had ended; synchronizes with players of the same image.
    public func play() {
        guard !isPlaying else { return }
        if playback.isOver {
            playback = playback.rewound
            (shownAt, shownTick, failedTick) = (nil, nil, nil)
        }
        generation += 1
        isPlaying = true
        lastTime = nil
        awaitsFrame = true
        isWaiting = false
        requestFrames()
        onWake?()
    }

    /// Stops the playback and releases all frames but the one that is shown, unless the configuration keeps them.
    ///
    /// - Parameter rewinding: whether the next `play()` starts from the beginning; the frame that is shown stays in either
    ///   case. False by default.
    public func stop(rewinding: Bool = false) {
        catchUp()
        // If its last frame is not decoded yet, the player does not wait for it.
        if isPlaying, !isAdvancing, playback.isOver {
            isPlaying = false
            report(shown: .nothing, looped: false, ended: true)
        }
        generation += 1
        isPlaying = false
        (shownAt, shownTick, failedTick) = (nil, nil, nil)
        awaitsFrame = false
        if rewinding {
            playback = playback.rewound
            hasSought = false
        }
        releaseFrames()
    }

    /// Shows a frame as soon as it is decoded, and continues from it; a stopped player stays stopped there.
    ///
    /// - Parameter loop: the index of the loop, from 0; the current one by default. Both are clamped to the animation.
    public func seek(to frame: Int, loop: Int? = nil) {
        generation += 1
        playback.seek(to: frame, loop: loop)
        (shownAt, shownTick, failedTick) = (nil, nil, nil)
        awaitsFrame = true
        isWaiting = false
        hasSought = true
        requestFrames()
        onWake?()
    }

    /// Continues with the same animation after more of it has arrived, from the current frame.
    public func update(_ image: Image, isComplete: Bool) {
        guard let animation = image.animation else { return }
        let next = pool.buffer(of: image, animation, transformer: configuration.transformer)
        posterImage = image.replacing(image.bitmap)
        playback = playback.continued(as: Self.playback(animation, configuration, isComplete: isComplete))
        if next !== buffer {
            releaseAllFrames()
            buffer = next
            isWaiting = false
        }
        if let tick = shownTick, playback.frame(atTick: tick) != currentFrameIndex {
            // A backward playback had to wait for the last frame.
            shownTick = nil
            awaitsFrame = isPlaying
        }
        requestFrames()
        onWake?()
    }

    /// Continues from the position of another player of the same animation, with its rate and callbacks.
    package func takeOver(from other: AnimatedImagePlayer) {
        (rate, maximumFrameRate) = (other.rate, other.maximumFrameRate)
        (onFrame, onLoop, onEnd, onFailure) = (other.onFrame, other.onLoop, other.onEnd, other.onFailure)
        guard playback.hasSameTimeline(as: other.playback) else { return }
        let isElsewhere = other.currentFrameIndex != currentFrameIndex
        playback = other.playback
        hasSought = other.hasSought
        // A stopped animation must show its frame again; the other player's frame stands in until this player's is decoded.
        guard isElsewhere else { return }
        (currentFrame, currentFrameIndex) = (other.currentFrame, other.currentFrameIndex)
        awaitsFrame = true
        requestFrames()
    }

    /// Whether `advance(to:)` has any work to do.
    package var needsTime: Bool { isPlaying || awaitsFrame }

    /// The time from the last `advance(to:)` to the next one that is needed; nil if nothing is to come, or if `onFrameReady`
    /// will report it.
    public var timeToNextFrame: Duration? {
        guard isPlaying || awaitsFrame, !isWaiting else { return nil }
        guard let lastTime, !awaitsFrame else { return .zero }
        let allowed = interval.flatMap { interval in shownAt.map { max(.zero, $0 + interval - lastTime) } } ?? .zero
        // The due frame is delayed by the maximum frame rate.
        if playback.tick != shownTick, playback.tick != failedTick { return allowed }
        guard rate > 0, let next = playback.untilNext else { return nil }
        return max(rate == 1 ? next : next / rate, allowed)
    }
}

// MARK: - Advancing

extension AnimatedImagePlayer {
    /// Advances to a time, shows the frame that is due by then, and makes the callbacks.
    ///
    /// - Parameter time: the time of any monotonic clock, the same one for all players that may synchronize.
    public func advance(to time: Duration) {
        guard isPlaying || awaitsFrame else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        let looped = isPlaying && advancePlayback(to: time)
        let shown = showDue(at: time)
        let hasEnded = isPlaying && playback.isOver && [shownTick, failedTick].contains(playback.tick)
        if hasEnded { isPlaying = false }
        requestFrames()
        if isPlaying, configuration.backgroundDecode, playback.loops == 0, let lastTime {
            buffer.lead = .init(playback: playback, rate: rate, time: lastTime)
        }
        wasIdle = rate == 0 || playback.isHeld
        report(shown: shown, looped: looped, ended: hasEnded)
    }

    /// Accounts for the time since the last `advance(to:)` before a setting changes.
    private func catchUp() {
        guard let clock, isPlaying, lastTime != nil, !isAdvancing else { return }
        advance(to: clock())
    }

    /// Advances the playback to a time.
    ///
    /// - Returns: whether a loop has ended.
    private func advancePlayback(to time: Duration) -> Bool {
        if lastTime == nil { join(at: time) }
        let passed = max(.zero, time - (lastTime ?? time))
        lastTime = max(time, lastTime ?? time)
        guard !awaitsFrame, !wasIdle else { return false }
        let loop = playback.loop
        playback.advance(by: scaled(passed))
        // A bounce ends where it began, which is another frame than that of its last step.
        if playback.isOver, shownTick == playback.tick, playback.frame != currentFrameIndex { shownTick = nil }
        return playback.loop > loop
    }

    /// Returns the time scaled by the rate. It is exact at the rate of 1, so that players stay synchronized.
    private func scaled(_ time: Duration) -> Duration {
        rate == 1 ? time : min(time, .seconds(1_000_000)) * rate
    }

    private static func playable(_ rate: Double) -> Double {
        rate.isFinite ? min(rate < 0.001 ? 0 : rate, 1000) : 1
    }

    private func join(at time: Duration) {
        guard configuration.joinsOthers, !hasSought, let lead = buffer.lead, lead.rate == rate,
            playback.isInStep(with: lead.playback)
        else { return }
        playback = lead.playback
        playback.advance(by: scaled(max(.zero, time - lead.time)))
        awaitsFrame = false
    }

    /// The result of `showDue`.
    private enum Shown {
        case nothing
        case frame
        case failure(any Error)
    }

    private func showDue(at time: Duration) -> Shown {
        let due = playback.tick
        isWaiting = false
        guard due != shownTick, due != failedTick else {
            awaitsFrame = false
            return .nothing
        }
        // The tolerance is half a tick of a fast screen: a frame that is due at one of its ticks is not delayed to the next.
        if let interval, let shownAt, time - shownAt < interval - .milliseconds(3), !playback.isOver { return .nothing }
        switch frame(playback.frame) {
        case .ready(let bitmap):
            awaitsFrame = false
            show(bitmap, tick: due, at: time)
            return .frame
        case .failed(let error):
            awaitsFrame = false
            failedTick = due
            return .failure(error)
        case .missing:
            isWaiting = true
            return showPassed(before: due, at: time)
        }
    }

    /// Shows the newest of the frames whose time has passed, if the due one is not decoded yet.
    private func showPassed(before due: Int, at time: Duration) -> Shown {
        guard let shownTick, !awaitsFrame else { return .nothing }
        let oldest = max(shownTick + 1, due - playback.stepCount + 1)
        guard oldest < due else { return .nothing }
        for tick in (oldest..<due).reversed() {
            guard let bitmap = decoded(playback.frame(atTick: tick)) else { continue }
            show(bitmap, tick: tick, at: time)
            return .frame
        }
        return .nothing
    }

    private func show(_ bitmap: Bitmap, tick: Int, at time: Duration) {
        currentFrame = posterImage.replacing(bitmap)
        currentFrameIndex = playback.frame(atTick: tick)
        shownTick = tick
        shownAt = time
        failedTick = nil
    }

    private func report(shown: Shown, looped: Bool, ended: Bool) {
        let generation = generation
        switch shown {
        case .nothing: break
        case .frame:
            if let currentFrame { watcher.frame?(currentFrame) }
            if let currentFrame, generation == self.generation { onFrame?(currentFrame, currentFrameIndex) }
        case .failure(let error): onFailure?(error, playback.frame)
        }
        if looped, generation == self.generation { watcher.loop?(playback.loopsRemaining) }
        if looped, generation == self.generation { onLoop?(playback.loopsRemaining) }
        if ended, generation == self.generation { watcher.end?() }
        if ended, generation == self.generation { onEnd?() }
    }
}
