import Foundation
import HalcyonImage
import HalcyonSystem

/// An encoder that writes animations.
public protocol AnimatedImageEncoder: ImageEncoder {
    /// The most bytes of memory that encoding takes beside the file and what a frame's decoder takes. Four frames by
    /// default.
    ///
    /// They are reserved from the `DecodeBudget` before the encoding begins.
    func workingBytes(for animation: AnimatedImage, options: EncodeOptions) -> Int

    /// Encodes every frame with its duration, to the precision that the format has, and the number of loops.
    ///
    /// The animation's frames are to be asked for in turn, and no more of them kept than `workingBytes` has room for.
    ///
    /// - Throws: `CodecError.encodingFailed`, `CancellationError`, and what the frames throw.
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
