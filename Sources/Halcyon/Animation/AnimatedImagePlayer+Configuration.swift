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
