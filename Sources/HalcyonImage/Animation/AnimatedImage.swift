import HalcyonSystem

/// The frames of an animation with their durations, each composed when it is asked for and never all at once.
///
/// Frames in turn are cheapest: each is drawn onto the one before it. Any other is drawn from the nearest frame before
/// it that stands on its own.
public struct AnimatedImage: Sendable {
    /// Pixels of every frame.
    public let size: PixelSize
    /// How long each frame stands, exactly as its file says; `playedDuration` is what a player should use.
    public let durations: [Duration]
    /// How often it plays; 0 for ever.
    public let loopCount: Int
    /// The bytes that a file's animation keeps: its encoded data and the last composed frame.
    public var cost: Int { source.cost }
    public var frameCount: Int { durations.count }

    private let source: any AnimationFrameSource

    /// Makes an animation of a source's frames; `size` is that of each of them.
    ///
    /// - Throws: `AnimationError.noFrames`.
    public init(
        source: any AnimationFrameSource, size: PixelSize, durations: [Duration], loopCount: Int
    ) throws(AnimationError) {
        guard !durations.isEmpty else { throw .noFrames }
        self.source = source
        self.size = size
        self.durations = durations
        self.loopCount = max(0, loopCount)
    }

    /// Makes an animation of images that are all of one size.
    ///
    /// - Parameter loopCount: 0, for ever, by default.
    /// - Throws: `AnimationError.noFrames` or `.differentSizes`.
    public init(frames: [(image: Image, duration: Duration)], loopCount: Int = 0) throws(AnimationError) {
        guard let size = frames.first?.image.size else { throw .noFrames }
        if let other = frames.first(where: { $0.image.size != size }) {
            throw .differentSizes(size, other.image.size)
        }
        try self.init(
            source: KeptFrames(bitmaps: frames.map(\.image.bitmap)), size: size, durations: frames.map(\.duration),
            loopCount: loopCount)
    }

    /// A whole frame, upright and of `size` pixels.
    ///
    /// Safe from any thread; calls for one animation wait for each other. Cost: the decoding of the frames that it is
    /// drawn on, which is one for frames in turn. The memory of a decoder is reserved from its `DecodeBudget` until the
    /// frame is there, and waited for.
    ///
    /// - Throws: `AnimationError.noSuchFrame`, `CancellationError`, and the decoder's errors.
    public func frame(at index: Int, context: WorkContext = .uncancellable) throws -> Bitmap {
        guard durations.indices.contains(index) else {
            throw AnimationError.noSuchFrame(index, count: frameCount)
        }
        return try source.frame(at: index, context: context)
    }

    /// How long a player shows a frame: as browsers do, 100 ms for those that say 10 ms or less.
    public func playedDuration(at index: Int) -> Duration {
        guard durations.indices.contains(index) else { return .zero }
        return Self.played(durations[index])
    }

    /// The played durations of all frames together.
    public var playedDuration: Duration { durations.reduce(.zero) { $0 + Self.played($1) } }

    /// The same animation with every frame decoded now and kept: `frameCount * width * height * 4` bytes.
    ///
    /// - Parameter maximumBytes: of all frames. By default a quarter of the memory that the system grants the process, a
    ///   container's limit included.
    /// - Throws: `AnimationError.tooLarge`, before any frame is decoded; what `frame(at:)` throws.
    public func preloaded(
        maximumBytes: Int? = nil, context: WorkContext = .uncancellable
    ) throws -> AnimatedImage {
        if isPreloaded { return self }
        let bytes = 0.adding(frameCount, times: frameBytes)
        let limit = maximumBytes ?? SystemGrant.current.memory / 4
        guard bytes <= limit else { throw AnimationError.tooLarge(bytes: bytes, limit: limit) }
        var bitmaps: [Bitmap] = []
        for index in durations.indices { bitmaps.append(try frame(at: index, context: context)) }
        return try AnimatedImage(
            source: KeptFrames(bitmaps: bitmaps), size: size, durations: durations, loopCount: loopCount)
    }

    /// The most bytes that are in use while a frame is made, what is kept from the last one included.
    public var workingBytes: Int { source.workingBytes }

    /// The bytes of one frame.
    package var frameBytes: Int { size.bitmapBytes }

    /// The same animation for a reader of its own, which asks for frames in turn and has reserved `workingBytes` for as long
    /// as it reads: its frames reserve nothing, and other readers do not disturb it.
    public func makeReader() -> AnimatedImage {
        AnimatedImage(size: size, durations: durations, loopCount: loopCount, source: source.makeReader())
    }

    private init(size: PixelSize, durations: [Duration], loopCount: Int, source: any AnimationFrameSource) {
        self.size = size
        self.durations = durations
        self.loopCount = loopCount
        self.source = source
    }

    package var isPreloaded: Bool { source is KeptFrames }

    /// Equal for animations of the same frames, for as long as one of them is kept; nil where their source is no object.
    package var identity: ObjectIdentifier? {
        // A value would be put into an object of its own.
        type(of: source) is any AnyObject.Type ? ObjectIdentifier(source as AnyObject) : nil
    }

    /// Gives the animation back for as long as somebody else keeps its frames; nil where their source is no object.
    var weakReference: (@Sendable () -> AnimatedImage?)? {
        let (size, durations, loopCount) = (size, durations, loopCount)
        // A value would be put into an object that nobody else keeps.
        guard type(of: source) is any AnyObject.Type,
            let object = source as? any AnimationFrameSource & AnyObject
        else { return nil }
        return { [weak object] in
            object.flatMap {
                try? AnimatedImage(source: $0, size: size, durations: durations, loopCount: loopCount)
            }
        }
    }

    static func played(_ duration: Duration) -> Duration {
        duration <= .milliseconds(10) ? .milliseconds(100) : duration
    }
}
