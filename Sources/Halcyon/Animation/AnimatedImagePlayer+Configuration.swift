import HalcyonImage
import HalcyonProcessing

extension AnimatedImagePlayer {
    /// How an animation is played.
    public struct Configuration: Sendable {
        /// As the file says, by default.
        public var repeatCount: RepeatCount
        /// Forward by default.
        public var mode: PlaybackMode
        /// How fast it plays at first, as `AnimatedImagePlayer.rate`; 1 by default.
        public var rate: Double
        /// The most frames a second at first, as `AnimatedImagePlayer.maximumFrameRate`; nil by default.
        public var maximumFrameRate: Double?
        /// Frames that are decoded before they are due: 10 by default, fewer where they are large (6 MiB of them at most)
        /// or where the pool is shared by many; never fewer than 1.
        public var framePreloadCount: Int
        /// Whether frames are decoded on Halcyon's own threads; true by default. False decodes each in `advance(to:)`, which
        /// then shows every frame in time and takes the time that decoding takes.
        public var backgroundDecode: Bool
        /// Whether it plays in step with others of the same image, which then share each decoded frame; true by default.
        /// Only what plays for ever joins, in one mode and at one rate.
        public var joinsOthers: Bool
        /// Changes each frame after it was decoded; nil by default. Players with equal transformers share their frames.
        public var transformer: (any ImageProcessor)?

        public init(
            repeatCount: RepeatCount = .file, mode: PlaybackMode = .forward, rate: Double = 1,
            maximumFrameRate: Double? = nil, framePreloadCount: Int = 10, backgroundDecode: Bool = true,
            joinsOthers: Bool = true, transformer: (any ImageProcessor)? = nil
        ) {
            self.repeatCount = repeatCount
            self.mode = mode
            self.rate = rate
            self.maximumFrameRate = maximumFrameRate
            self.framePreloadCount = framePreloadCount
            self.backgroundDecode = backgroundDecode
            self.joinsOthers = joinsOthers
            self.transformer = transformer
        }
    }

    /// What is told of the course.
    package struct Watcher {
        package var frame: ((Image) -> Void)?
        package var loop: ((Int?) -> Void)?
        package var end: (() -> Void)?

        package init() {}
    }
}

/// In which order an animation's frames play.
public enum PlaybackMode: Hashable, Sendable, CaseIterable {
    /// First to last.
    case forward
    /// Last to first.
    case reverse
    /// First to last and back; the first and the last frame stand once in each turn.
    case bounce
    /// Last to first and back.
    case reverseBounce

    /// Steps of one loop.
    func stepCount(frames: Int) -> Int {
        switch self {
        case .forward, .reverse: frames
        case .bounce, .reverseBounce: max(1, 2 * frames - 2)
        }
    }

    func frame(atStep step: Int, of frames: Int) -> Int {
        switch self {
        case .forward: step
        case .reverse: frames - 1 - step
        case .bounce: step < frames ? step : 2 * frames - 2 - step
        case .reverseBounce: frames - 1 - Self.bounce.frame(atStep: step, of: frames)
        }
    }
}

/// How often an animation plays.
public enum RepeatCount: Hashable, Sendable {
    /// As its file says.
    case file
    case infinite
    case once
    /// So many times; 1 for numbers below.
    case finite(Int)

    /// 0 is for ever.
    func loops(ofFile count: Int) -> Int {
        switch self {
        case .file: max(0, count)
        case .infinite: 0
        case .once: 1
        case .finite(let count): max(1, count)
        }
    }
}
