import Foundation
import HalcyonImage
import HalcyonSystem

/// Writes one or more image formats.
public protocol ImageEncoder: ImageCoder {
    /// Whether it writes this format. The default is every one of `formats`.
    func canEncode(_ format: ImageFormat) -> Bool

    /// Whether a lower `quality` makes smaller files with these options. The default is false.
    func isLossy(_ format: ImageFormat, options: EncodeOptions) -> Bool

    /// Encodes upright sRGB pixels; the file says orientation 1 or nothing.
    ///
    /// - Throws: `CodecError.encodingFailed`, `CancellationError`.
    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data
}

extension ImageEncoder {
    public func canEncode(_ format: ImageFormat) -> Bool { formats.contains(format) }

    public func isLossy(_ format: ImageFormat, options: EncodeOptions) -> Bool { false }
}
