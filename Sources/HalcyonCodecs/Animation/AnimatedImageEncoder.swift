import Foundation
import HalcyonImage
import HalcyonSystem

/// An encoder that writes animations.
public protocol AnimatedImageEncoder: ImageEncoder {
    /// Encodes every frame with its duration, to the precision that the format has, and the number of loops.
    ///
    /// - Throws: `CodecError.encodingFailed`, `CancellationError`, and what the frames throw.
    func encode(
        _ animation: AnimatedImage, info: ImageInfo, as format: ImageFormat, options: EncodeOptions,
        context: WorkContext
    ) throws -> Data
}
