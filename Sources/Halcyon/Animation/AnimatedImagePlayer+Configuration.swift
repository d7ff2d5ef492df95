import HalcyonImage
import HalcyonProcessing

extension AnimatedImagePlayer {
    /// The options by which an animation is played.
    public struct Configuration: Sendable {
        /// The number of loops; that of the file by default.
        public var repeatCount: RepeatCount
        /// The order of the frames; forward by default.
        public var mode: PlaybackMode
        /// The initial `AnimatedImagePlayer.rate`; 1 by default.
        public var rate: Double
        /// The initial `AnimatedImagePlayer.maximumFrameRate`; nil by default.
        public var maximumFrameRate: Double?
        /// The number of frames that are decoded before they are due: 10 by default, fewer if they are larger than
        /// `maximumBytesAhead` or if many animations share the pool; never fewer than 1.
        public var framePreloadCount: Int
        /// Whether frames are decoded on Halcyon's own threads; true by default. If false, `advance(to:)` decodes each frame
        /// itself: every frame is then shown in time, and the call takes as long as the decode.
        public var backgroundDecode: Bool
        /// Whether the player synchronizes with others of the same image, which then share each decoded frame; true by default.
        /// Only players that repeat for ever, with the same mode and rate, synchronize.
        public var joinsOthers: Bool
        /// A processor that is applied to each decoded frame; nil by default. Players with equal transformers share their
        /// frames.
        public var transformer: (any ImageProcessor)?

        /// The pool that keeps the decoded frames; the process's shared one by default. Only players with the same pool share
        /// their frames.
        public var pool: FramePool = .shared
        /// The bytes of frames that are decoded before they are due, 6 MiB by default; one frame is decoded ahead in any case.
        public var maximumBytesAhead = 6 << 20
        /// Whether a player that stops keeps its decoded frames, and with them the memory of the decoder and its share of the
        /// pool, until it plays, is released or `AnimatedImagePlayer.purgeFrames()` is called. False by default.
        public var keepsFramesWhenStopped = false

        /// Creates a configuration; omitted arguments take the defaults that the properties state.
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

    /// Closures that a view sets to follow the playback.
    package struct Watcher {
        package var frame: ((Image) -> Void)?
        package var loop: ((Int?) -> Void)?
        package var end: (() -> Void)?

        package init() {}
    }
}

/// The order in which an animation's frames play.
public enum PlaybackMode: Hashable, Sendable, CaseIterable {
    /// From the first to the last.
    case forward
    /// From the last to the first.
    case reverse
    /// From the first to the last and back; the first and the last frame are shown once in each cycle.
    case bounce
    /// From the last to the first and back.
    case reverseBounce

    /// Returns the number of steps of one loop.
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

/// The number of times that an animation plays.
public enum RepeatCount: Hashable, Sendable {
    /// The number in its file.
    case file
    /// For ever.
    case infinite
    /// One time, whatever its file says.
    case once
    /// This number of times; numbers below 1 count as 1.
    case finite(Int)

    /// Returns the number of loops; 0 means for ever.
    func loops(ofFile count: Int) -> Int {
        switch self {
        case .file: max(0, count)
        case .infinite: 0
        case .once: 1
        case .finite(let count): max(1, count)
        }
    }
}
