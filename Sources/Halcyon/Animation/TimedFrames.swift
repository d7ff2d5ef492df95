import HalcyonImage
import HalcyonSystem

/// A frame of an animation that has become due.
public struct TimedFrame: Sendable {
    /// The frame as a still image.
    public let image: Image
    /// The frame's index in the animation.
    public let index: Int
}

/// The frames of an image as they become due, for programs without a screen's clock; a still image is one frame.
///
/// No frame comes before it is due. A slow reader misses the frames whose time has passed. The sequence ends with the last
/// loop, or with the task's cancellation; a frame that cannot be decoded is left out.
public struct TimedFrames: AsyncSequence {
    public typealias Element = TimedFrame

    fileprivate let image: Image
    fileprivate let configuration: AnimatedImagePlayer.Configuration
    fileprivate let time: TimeSource
    fileprivate let pool: FramePool?

    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// The iterator of one reader, which waits until the next frame is due.
    public struct Iterator: AsyncIteratorProtocol {
        private let player: AnimatedImagePlayer?
        private let time: TimeSource
        private var still: TimedFrame?
        private let shown = Shown()
        private var ready: AsyncStream<Void>.Iterator

        /// The frame that the player shows in an `advance(to:)`.
        private final class Shown {
            var frame: TimedFrame?
        }

        fileprivate init(_ frames: TimedFrames) {
            time = frames.time
            player = AnimatedImagePlayer(frames.image, configuration: frames.configuration, pool: frames.pool)
            if player == nil { still = TimedFrame(image: frames.image, index: 0) }
            let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            ready = stream.makeAsyncIterator()
            player?.onFrame = { [shown] image, index in shown.frame = TimedFrame(image: image, index: index) }
            player?.onFrameReady = { continuation.yield() }
            player?.play()
        }

        public mutating func next() async throws -> TimedFrame? { try await next(isolation: #isolation) }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> TimedFrame? {
            guard let player else {
                defer { still = nil }
                return still
            }
            while player.isPlaying {
                try Task.checkCancellation()
                player.advance(to: time.steady)
                if let frame = shown.frame {
                    shown.frame = nil
                    return frame
                }
                if let pause = player.timeToNextFrame {
                    try await time.wait(for: pause)
                } else if player.isPlaying {
                    _ = await ready.next(isolation: actor)
                }
            }
            return nil
        }
    }
}

extension Image {
    /// Returns the frames of the animation as they become due.
    ///
    ///     for try await frame in image.playedFrames() { show(frame.image) }
    ///
    /// - Parameters:
    ///   - time: the time source; the system's by default.
    ///   - pool: the pool that keeps decoded frames; nil, the default, takes the configuration's.
    public func playedFrames(
        configuration: AnimatedImagePlayer.Configuration = .init(), time: TimeSource = .system,
        pool: FramePool? = nil
    ) -> TimedFrames {
        TimedFrames(image: self, configuration: configuration, time: time, pool: pool)
    }
}
