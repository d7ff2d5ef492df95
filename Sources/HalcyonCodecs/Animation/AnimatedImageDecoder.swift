import Foundation
import HalcyonImage
import HalcyonSystem

/// A decoder that gives access to each frame of an animation.
public protocol AnimatedImageDecoder: ImageDecoder {
    /// Finds the frames without decoding any. `probe` must have accepted the data.
    ///
    /// Frames whose descriptor or data is truncated are left out. The reader retains the data.
    ///
    /// - Throws: `CodecError`.
    func frames(of data: Data, info: ImageInfo) throws -> any FrameReader
}

/// The frames of one file as they are stored. Safe to use from any thread.
public protocol FrameReader: Sendable {
    /// The descriptions of the frames, in playback order; at least one.
    var frames: [AnimationFrame] { get }

    /// Decodes the pixels of one frame alone, not composed with any other frame.
    ///
    /// - Returns: exactly `frames[index].rect.size` pixels, in stored orientation.
    func pixels(at index: Int, context: WorkContext) throws -> Bitmap
}

/// The position, duration and drawing rules of a stored frame, which is drawn onto the frames before it.
public struct AnimationFrame: Hashable, Sendable {
    /// The change to the canvas after the frame has been shown.
    public enum Disposal: Hashable, Sendable {
        /// The canvas stays as it is.
        case keep
        /// The frame's rectangle becomes transparent.
        case clear
        /// The canvas returns to its state before the frame.
        case restore
    }

    /// The way in which the frame's pixels are combined with the canvas.
    public enum Blend: Hashable, Sendable {
        /// The pixels are composited over the canvas.
        case over
        /// The pixels replace those of the canvas, including their alpha.
        case replace
    }

    /// The rectangle on the canvas, in stored orientation. It must lie inside the canvas.
    public var rect: PixelRect
    /// The duration as stored in the file.
    public var duration: Duration
    /// The change to the canvas after the frame has been shown. `.keep` by default.
    public var disposal: Disposal
    /// The way in which the pixels are combined with the canvas. `.over` by default.
    public var blend: Blend

    /// Creates a description; omitted arguments take the defaults that the properties state.
    public init(rect: PixelRect, duration: Duration, disposal: Disposal = .keep, blend: Blend = .over) {
        self.rect = rect
        self.duration = duration
        self.disposal = disposal
        self.blend = blend
    }
}
