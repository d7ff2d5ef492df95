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
