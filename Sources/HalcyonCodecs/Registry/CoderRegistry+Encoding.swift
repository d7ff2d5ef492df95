import Foundation
import HalcyonImage
import HalcyonSystem

extension CoderRegistry {
    /// Encodes an image.
    ///
    /// - Throws: `CodecError.unsupportedFormat` where no encoder writes the format, `.encodingFailed`,
    ///   `CancellationError`.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions = EncodeOptions(),
        context: WorkContext = .uncancellable
    ) throws -> Data {
        guard let encoder = encoder(for: format) else { throw CodecError.unsupportedFormat(format) }
        try context.checkCancellation()
        return try encoder.encode(image, as: format, options: options, context: context)
    }
}
