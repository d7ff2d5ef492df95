import Foundation
import HalcyonImage
import HalcyonSystem

/// Writes one or more image formats.
public protocol ImageEncoder: ImageCoder {
    /// Whether it writes this format. The default is every one of `formats`.
    func canEncode(_ format: ImageFormat) -> Bool

    /// Whether a lower `quality` makes smaller files with these options. The default is false.
    func isLossy(_ format: ImageFormat, options: EncodeOptions) -> Bool

    /// Whether it can write an orientation and an ICC profile into a still image. The default is false: the registry
    /// then hands it upright sRGB pixels.
    func writesMetadata(_ format: ImageFormat) -> Bool

    /// Encodes the pixels as they are.
    ///
    /// One that `writesMetadata` writes `image.colorProfile`, where there is one, and `options.storedOrientation(of:)`,
    /// by which the registry has turned the pixels back already.
    ///
    /// - Throws: `CodecError.encodingFailed`, `CancellationError`.
    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data
}

extension ImageEncoder {
    public func canEncode(_ format: ImageFormat) -> Bool { formats.contains(format) }

    public func writesMetadata(_ format: ImageFormat) -> Bool { false }

    public func isLossy(_ format: ImageFormat, options: EncodeOptions) -> Bool { false }
}
