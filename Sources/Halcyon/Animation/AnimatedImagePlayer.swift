import HalcyonImage
import HalcyonSystem

/// Plays the frames of an animation: says which one is to be seen now, and has it decoded by then.
///
/// It has no clock. Whoever shows the frames, a view by its frame clock or a test by hand, calls `advance(to:)`; a program
/// without a screen reads `AnimatedImage.frames`. A player belongs to one thread or actor; frames are decoded on others.
///
///     let player = AnimatedImagePlayer(image)
///     player?.onFrame = { frame, index in show(frame) }
///     player?.play()
///     player?.advance(to: time)       // again once `timeToNextFrame` has passed, or `onFrameReady` was called
///
/// Frames whose time is over are skipped, by the time that has passed: an animation never lags, and never shows a frame after
/// a later one. Memory: the frame that is shown and those decoded ahead, out of the `FramePool`; nothing while it is stopped
/// but the frame that is shown.
public final class AnimatedImagePlayer {
    /// The image's own pixels, its first frame.
    public private(set) var posterImage: Image
    /// What is to be seen; nil only with a transformer, until its first frame is there.
    public private(set) var currentFrame: Image?
    /// The frame that `currentFrame` is.
    public private(set) var currentFrameIndex = 0
    public private(set) var isPlaying = false

    /// Called by `advance(to:)` for each frame that is shown, with its index; in a view after that has shown it.
    public var onFrame: ((Image, Int) -> Void)?
    /// Called by `advance(to:)` when a loop is over, with the number of loops to come, nil for ever; once for loops that
    /// were over together.
    public var onLoop: ((Int?) -> Void)?
    /// Called by `advance(to:)` when the last loop is over. The last frame stays.
    public var onEnd: (() -> Void)?
    /// Called by `advance(to:)` for a frame that could not be decoded, with its index; the one before it stays.
    public var onFailure: (((any Error), Int) -> Void)?
    /// Called when `advance(to:)` is due sooner than it was said, since the course has changed.
    package var onWake: (() -> Void)?
    /// The time that a view would call `advance(to:)` with; without one, none passes between two calls.
    package var clock: (() -> Duration)?
    /// A view's own, told before the program's closures are.
    package var watcher = Watcher()
    /// Called on any thread when a frame has come that was due: `advance(to:)` should be called soon.
    public var onFrameReady: (@Sendable () -> Void)?

    /// How fast it plays: 1 by default, at most 1,000; 0, as anything below a thousandth, stands still.
    public var rate: Double {
        willSet { catchUp() }
        didSet {
            rate = Self.playable(rate)
            onWake?()
        }
    }

    /// The most frames that are shown in a second; nil, as many as there are, by default.
    public var maximumFrameRate: Double? {
        didSet { onWake?() }
    }

    /// How it was asked to play.
    public let configuration: Configuration

    private let pool: FramePool
    private var supply: FrameSupply
    private var playback: Playback
    /// The time of the last `advance(to:)`; nil before the first since `play()`.
    private var lastTime: Duration?
    /// When `currentFrame` was shown, and as which tick.
    private var shownAt: Duration?
    private var shownTick: Int?
    /// The frames that were asked for.
    private var reading: [Int] = []
    /// The time stands until the frame that is due is there: at the start and after a seek.
    private var awaitsFrame = false
    /// Nobody was asked to call `advance(to:)`: the time until the next does not count.
    private var stoodStill = false
    /// The frame that is due was not there; `onFrameReady` will tell.
    private var isWaiting = false
    private var hasSought = false
    private var failedTick: Int?
    private var isAdvancing = false
    /// Counts what changes the course, so that a callback that does so is the last one of its `advance(to:)`.
    private var course = 0

    /// Makes a player of an image's animation, which does not play yet.
    ///
    /// - Parameters:
    ///   - isComplete: false for a preview, whose last frame stands until `update(_:isComplete:)` brings more.
    ///   - pool: where decoded frames are kept; that of the process by default.
    /// - Returns: nil for a still image.
    public init?(
        _ image: Image, configuration: Configuration = Configuration(), isComplete: Bool = true,
        pool: FramePool = .shared
    ) {
        guard let animation = image.animation else { return nil }
        self.configuration = configuration
        self.pool = pool
        rate = Self.playable(configuration.rate)
        maximumFrameRate = configuration.maximumFrameRate
        posterImage = image.replacing(image.bitmap)
        if configuration.transformer == nil { currentFrame = posterImage }
        supply = pool.supply(of: image, animation, transformer: configuration.transformer)
        playback = Self.playback(animation, configuration, isComplete: isComplete)
        currentFrameIndex = configuration.transformer == nil ? 0 : playback.frame
    }

    deinit {
        leave()
    }

    public var frameCount: Int { playback.frameCount }

    /// How many loops there are yet to come, the present one with them; nil for ever.
    public var loopsRemaining: Int? { playback.loopsRemaining }

    /// Whether the last loop is over.
    public var isOver: Bool { playback.isOver && !isPlaying }

    /// Goes on from where it stands, from the start if it was over; joins others of the same image that are playing.
    public func play() {
        guard !isPlaying else { return }
        if playback.isOver {
            playback = playback.rewound
            (shownAt, shownTick, failedTick) = (nil, nil, nil)
        }
        course += 1
        isPlaying = true
        lastTime = nil
        awaitsFrame = true
        isWaiting = false
        want()
        onWake?()
    }

    /// Stands still and lets go of the frames that it does not show.
    ///
    /// - Parameter rewinding: whether `play()` begins anew; the frame that is shown stays all the same. False by default.
    public func stop(rewinding: Bool = false) {
        catchUp()
        // Where its last frame is not there yet, that is not waited for.
        if isPlaying, !isAdvancing, playback.isOver {
            isPlaying = false
            report(shown: .nothing, looped: false, ended: true)
        }
        course += 1
        isPlaying = false
        (shownAt, shownTick, failedTick) = (nil, nil, nil)
        awaitsFrame = false
        if rewinding {
            playback = playback.rewound
            hasSought = false
        }
        leave()
    }

    /// Shows a frame, as soon as it is there, and goes on from it: where the player is stopped, it stops there again.
    ///
    /// - Parameter loop: counted from 0; the present one by default. Both are clamped to what there is.
    public func seek(to frame: Int, loop: Int? = nil) {
        course += 1
        playback.seek(to: frame, loop: loop)
        (shownAt, shownTick, failedTick) = (nil, nil, nil)
        awaitsFrame = true
        isWaiting = false
        hasSought = true
        want()
        onWake?()
    }

    /// Goes on with the same animation of which more has arrived, at the frame where it stands.
    public func update(_ image: Image, isComplete: Bool) {
        guard let animation = image.animation else { return }
        let next = pool.supply(of: image, animation, transformer: configuration.transformer)
        posterImage = image.replacing(image.bitmap)
        playback = playback.continued(as: Self.playback(animation, configuration, isComplete: isComplete))
        if next !== supply {
            leave()
            supply = next
            isWaiting = false
        }
        if let tick = shownTick, playback.frame(atTick: tick) != currentFrameIndex {
            // What plays backwards had to wait for the last frame.
            shownTick = nil
            awaitsFrame = isPlaying
        }
        want()
        onWake?()
    }

    /// Goes on where another player of the same animation stands, as that was asked to.
    package func takeOver(from other: AnimatedImagePlayer) {
        (rate, maximumFrameRate) = (other.rate, other.maximumFrameRate)
        (onFrame, onLoop, onEnd, onFailure) = (other.onFrame, other.onLoop, other.onEnd, other.onFailure)
        guard playback.isSameCourse(as: other.playback) else { return }
        let isElsewhere = other.currentFrameIndex != currentFrameIndex
        playback = other.playback
        hasSought = other.hasSought
        // What stands still is to be seen where it stood; that is its frame until this one's is there.
        guard isElsewhere else { return }
        (currentFrame, currentFrameIndex) = (other.currentFrame, other.currentFrameIndex)
        awaitsFrame = true
        want()
    }

    /// Whether `advance(to:)` has anything to do.
    package var needsTime: Bool { isPlaying || awaitsFrame }

    /// The time after the last `advance(to:)` when it should be called again; nil where nothing is to come, or where
    /// `onFrameReady` will tell.
    public var timeToNextFrame: Duration? {
        guard isPlaying || awaitsFrame, !isWaiting else { return nil }
        guard let lastTime, !awaitsFrame else { return .zero }
        let allowed = interval.flatMap { interval in shownAt.map { max(.zero, $0 + interval - lastTime) } } ?? .zero
        // Put off, for the sake of the highest rate.
        if playback.tick != shownTick, playback.tick != failedTick { return allowed }
        guard rate > 0, let next = playback.untilNext else { return nil }
        return max(rate == 1 ? next : next / rate, allowed)
    }
}

// MARK: - The passing of time

extension AnimatedImagePlayer {
    /// Goes on to a time, shows the frame that is due by then, and calls back.
    ///
    /// - Parameter time: of any clock that only goes forward, the same one for all players that may join each other.
    public func advance(to time: Duration) {
        guard isPlaying || awaitsFrame else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        let looped = isPlaying && pass(to: time)
        let shown = showDue(at: time)
        let hasEnded = isPlaying && playback.isOver && [shownTick, failedTick].contains(playback.tick)
        if hasEnded { isPlaying = false }
        want()
        if isPlaying, configuration.backgroundDecode, playback.loops == 0, let lastTime {
            supply.lead = .init(playback: playback, rate: rate, time: lastTime)
        }
        stoodStill = rate == 0 || playback.isHeld
        report(shown: shown, looped: looped, ended: hasEnded)
    }

    /// Counts the time that has passed since the last `advance(to:)` before something else counts.
    private func catchUp() {
        guard let clock, isPlaying, lastTime != nil, !isAdvancing else { return }
        advance(to: clock())
    }

    /// - Returns: whether a loop is over.
    private func pass(to time: Duration) -> Bool {
        if lastTime == nil { join(at: time) }
        let passed = max(.zero, time - (lastTime ?? time))
        lastTime = max(time, lastTime ?? time)
        guard !awaitsFrame, !stoodStill else { return false }
        let loop = playback.loop
        playback.advance(by: scaled(passed))
        // A turn there and back ends where it began, which is another frame than that of its last step.
        if playback.isOver, shownTick == playback.tick, playback.frame != currentFrameIndex { shownTick = nil }
        return playback.loop > loop
    }

    /// Exact at the rate of 1, so that players stay in step.
    private func scaled(_ time: Duration) -> Duration {
        rate == 1 ? time : min(time, .seconds(1_000_000)) * rate
    }

    private static func playable(_ rate: Double) -> Double {
        rate.isFinite ? min(rate < 0.001 ? 0 : rate, 1000) : 1
    }

    private func join(at time: Duration) {
        guard configuration.joinsOthers, !hasSought, let lead = supply.lead, lead.rate == rate,
            playback.isInStep(with: lead.playback)
        else { return }
        playback = lead.playback
        playback.advance(by: scaled(max(.zero, time - lead.time)))
        awaitsFrame = false
    }

    /// What `showDue` came to.
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
        // Half a tick of a fast screen: a frame that is due at one of its ticks is not put off to the next.
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

    /// The newest of the frames whose time has passed, where the one that is due is not there yet.
    private func showPassed(before due: Int, at time: Duration) -> Shown {
        guard let shownTick, !awaitsFrame else { return .nothing }
        let oldest = max(shownTick + 1, due - playback.stepCount + 1)
        guard oldest < due else { return .nothing }
        for tick in (oldest..<due).reversed() {
            guard let bitmap = kept(playback.frame(atTick: tick)) else { continue }
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
        let course = course
        switch shown {
        case .nothing: break
        case .frame:
            if let currentFrame { watcher.frame?(currentFrame) }
            if let currentFrame, course == self.course { onFrame?(currentFrame, currentFrameIndex) }
        case .failure(let error): onFailure?(error, playback.frame)
        }
        if looped, course == self.course { watcher.loop?(playback.loopsRemaining) }
        if looped, course == self.course { onLoop?(playback.loopsRemaining) }
        if ended, course == self.course { watcher.end?() }
        if ended, course == self.course { onEnd?() }
    }
}

// MARK: - Frames

extension AnimatedImagePlayer {
    private var interval: Duration? {
        guard let maximumFrameRate, maximumFrameRate.isFinite, maximumFrameRate > 0 else { return nil }
        return .seconds(1 / max(maximumFrameRate, 0.001))
    }

    /// Asks for the frames that come next, as long as any is to come.
    private func want() {
        guard isPlaying || awaitsFrame else { return leave() }
        // Each is decoded when it is due.
        guard configuration.backgroundDecode else { return }
        let ahead = isPlaying ? supply.ahead(atMost: configuration.framePreloadCount) : 0
        // While the due one is not shown there is the one before it, too.
        let count = shownTick == playback.tick ? 1 + ahead : max(1, ahead)
        // The first one is there.
        let next = playback.upcoming(count).filter { $0 != 0 || configuration.transformer != nil }
        supply.want(next, insteadOf: reading)
        reading = next
    }

    private func frame(_ index: Int) -> FrameSupply.Frame {
        if index == 0, configuration.transformer == nil { return .ready(posterImage.bitmap) }
        guard configuration.backgroundDecode else { return supply.decodedNow(index) }
        return supply.frame(index, for: ObjectIdentifier(self), notify: onFrameReady)
    }

    private func kept(_ index: Int) -> Bitmap? {
        index == 0 && configuration.transformer == nil ? posterImage.bitmap : supply.kept(index)
    }

    private func leave() {
        supply.want([], insteadOf: reading)
        supply.forget(ObjectIdentifier(self))
        reading = []
    }

    private static func playback(
        _ animation: AnimatedImage, _ configuration: Configuration, isComplete: Bool
    ) -> Playback {
        Playback(
            durations: animation.durations.indices.map { animation.playedDuration(at: $0) }, mode: configuration.mode,
            loops: configuration.repeatCount.loops(ofFile: animation.loopCount), isComplete: isComplete)
    }
}
