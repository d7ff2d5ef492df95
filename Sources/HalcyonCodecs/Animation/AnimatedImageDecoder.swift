import Foundation
import HalcyonImage
import HalcyonSystem

/// A decoder that gives each frame of an animation.
public protocol AnimatedImageDecoder: ImageDecoder {
    /// Finds the frames, without decoding any. The data is one that `probe` took.
    ///
    /// Frames whose descriptor or data was cut off are left out; the reader keeps the data.
    ///
    /// - Throws: `CodecError`.
    func frames(of data: Data, info: ImageInfo) throws -> any FrameReader
}

/// The frames of one file as they are stored. Safe from any thread.
public protocol FrameReader: Sendable {
    /// At least one.
    var frames: [AnimationFrame] { get }

    /// Decodes the pixels of one frame, alone: not composed with any other.
    ///
    /// - Returns: exactly `frames[index].rect.size` pixels, in stored orientation.
    func pixels(at index: Int, context: WorkContext) throws -> Bitmap
}
