import Foundation
import HalcyonSystem

/// The frames of an animation with their durations. Each frame is composed on request, and never all at once.
///
/// Sequential frames are cheapest: each is drawn onto the one before it. Any other frame is drawn from the nearest
/// preceding frame that is independent of those before it.
public struct AnimatedImage: Sendable {
    /// The size of every frame in pixels.
    public let size: PixelSize
    /// The duration of each frame, exactly as declared in its file; a player should use `playedDuration`.
    public let durations: [Duration]
    /// The number of times the animation plays; 0 for endlessly.
    public let loopCount: Int
    /// The bytes that an animation from a file keeps in memory: its encoded data and the last composed frame.
    public var cost: Int { source.cost }
    /// The number of frames, at least 1.
    public var frameCount: Int { durations.count }

    private let source: any AnimationFrameSource

    /// Creates an animation from a source's frames, each of which has the size `size`.
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

    /// Creates an animation from images of one size.
    ///
    /// - Parameter loopCount: 0, for endlessly, by default.
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

    /// Returns a complete frame, upright and of `size` pixels.
    ///
    /// Safe to call from any thread; calls for one animation are serialized. Cost: the decoding of the frames that it is
    /// drawn on, which is one frame for sequential access. A decoder's memory is reserved from its `DecodeBudget` until the
    /// frame is complete, and the call waits for that reservation.
    ///
    /// - Throws: `AnimationError.noSuchFrame`, `CancellationError`, and the decoder's errors.
    public func frame(at index: Int, context: WorkContext = .uncancellable) throws -> Bitmap {
        guard durations.indices.contains(index) else {
            throw AnimationError.noSuchFrame(index, count: frameCount)
        }
        return try source.frame(at: index, context: context)
    }

    /// Returns the time a player shows a frame: as in browsers, 100 ms for frames that declare 10 ms or less.
    public func playedDuration(at index: Int) -> Duration {
        guard durations.indices.contains(index) else { return .zero }
        return Self.played(durations[index])
    }

    /// The sum of the played durations of all frames.
    public var playedDuration: Duration { durations.reduce(.zero) { $0 + Self.played($1) } }

    /// Returns the animation with every frame decoded now and kept: `frameCount * width * height * 4` bytes.
    ///
    /// - Parameter maximumBytes: the maximum size of all frames together. By default a quarter of the memory that the
    ///   system grants the process, a container's limit included.
    /// - Throws: `AnimationError.tooLarge`, before any frame is decoded; any error that `frame(at:)` throws.
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

    /// The maximum number of bytes in use while a frame is made, including those kept from the last one.
    public var workingBytes: Int { source.workingBytes }

    /// The bytes of one frame.
    package var frameBytes: Int { size.bitmapBytes }

    /// Returns the animation for a reader of its own that requests frames sequentially and has reserved `workingBytes` for
    /// as long as it reads: its frames make no reservations, and other readers do not disturb it.
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

    /// An identifier that is equal for animations with the same frames, for as long as one of them is alive; nil if their
    /// source is not an object.
    package var identity: ObjectIdentifier? {
        // A value would be boxed into a new object.
        type(of: source) is any AnyObject.Type ? ObjectIdentifier(source as AnyObject) : nil
    }

    /// A closure that returns the animation for as long as its frames are kept alive elsewhere; nil if their source is not
    /// an object.
    var weakReference: (@Sendable () -> AnimatedImage?)? {
        let (size, durations, loopCount) = (size, durations, loopCount)
        // A value would be boxed into an object that has no other owner.
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

/// An error of an animation, or of one of its frames.
public enum AnimationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The animation would have no frames.
    case noFrames
    /// The frames differ in size.
    case differentSizes(PixelSize, PixelSize)
    /// The first value is not the index of one of the animation's `count` frames.
    case noSuchFrame(Int, count: Int)
    /// All frames together, in bytes, are larger than the limit.
    case tooLarge(bytes: Int, limit: Int)

    public var description: String {
        switch self {
        case .noFrames: "an animation has at least one frame"
        case .differentSizes(let first, let other): "the frames are \(first) and \(other) pixels"
        case .noSuchFrame(let index, let count): "there is no frame \(index) among \(count)"
        case .tooLarge(let bytes, let limit): "all frames together take \(bytes) bytes, more than \(limit)"
        }
    }
}

extension AnimationError: LocalizedError {
    public var errorDescription: String? { description }
}
