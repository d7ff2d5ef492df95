import Foundation
import HalcyonImage
import HalcyonSystem

/// An encoder that writes animations.
public protocol AnimatedImageEncoder: ImageEncoder {
    /// The maximum number of bytes of memory that encoding takes beside the file and the memory of the frames' decoder.
    /// The default is four frames.
    ///
    /// The bytes are reserved from the `DecodeBudget` before the encoding begins.
    func workingBytes(for animation: AnimatedImage, options: EncodeOptions) -> Int

    /// Encodes every frame with its duration, to the precision of the format, and the loop count.
    ///
    /// An implementation must request the animation's frames in order, and keep no more of them than `workingBytes`
    /// accounts for.
    ///
    /// - Throws: `CodecError.encodingFailed`, `CancellationError`, and the errors of the frames.
    func encode(
        _ animation: AnimatedImage, info: ImageInfo, as format: ImageFormat, options: EncodeOptions,
        context: WorkContext
    ) throws -> Data
}

extension AnimatedImageEncoder {
    public func workingBytes(for animation: AnimatedImage, options: EncodeOptions) -> Int {
        0.adding(4, times: animation.size.bitmapBytes)
    }
}
