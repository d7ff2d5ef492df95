import Foundation
import HalcyonImage
import HalcyonSystem

/// A reader or writer of image formats, which is registered in `CoderRegistry`.
///
/// Adopt `ImageDecoder`, `ImageEncoder` or both. A coder is a value without mutable state: one instance serves any
/// number of threads at once.
public protocol ImageCoder: Sendable {
    /// The formats that it reads or writes.
    var formats: [ImageFormat] { get }
}

/// A writer of one or more image formats.
public protocol ImageEncoder: ImageCoder {
    /// Returns whether the encoder writes this format. The default is true for every one of `formats`.
    func canEncode(_ format: ImageFormat) -> Bool

    /// Returns whether a lower `quality` makes smaller files with these options. The default is false.
    func isLossy(_ format: ImageFormat, options: EncodeOptions) -> Bool

    /// Returns whether the encoder can write an orientation and an ICC profile into a still image. If not, which is the
    /// default, the registry passes it upright sRGB pixels.
    func writesMetadata(_ format: ImageFormat) -> Bool

    /// Returns the most bits of a channel that the encoder writes of an image with a `deepBitmap`: 8 by default, which is none of them.
    func mostBitsPerChannel(_ format: ImageFormat) -> Int

    /// Encodes the pixels as they are. The registry has checked that `options.quality` is from 0 to 1.
    ///
    /// An encoder that `writesMetadata` writes `image.colorProfile`, if there is one, and
    /// `options.storedOrientation(of:)`; the registry has already turned the pixels back by this orientation.
    ///
    /// An encoder of more than 8 bits writes `image.deepBitmap`, if there is one and `options.bitsPerChannel` asks for them, in the
    /// colour space that this has.
    ///
    /// - Throws: `CodecError.encodingFailed`, `CancellationError`.
    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: WorkContext
    ) throws -> Data
}

extension ImageEncoder {
    public func canEncode(_ format: ImageFormat) -> Bool { formats.contains(format) }

    public func writesMetadata(_ format: ImageFormat) -> Bool { false }

    public func mostBitsPerChannel(_ format: ImageFormat) -> Int { 8 }

    public func isLossy(_ format: ImageFormat, options: EncodeOptions) -> Bool { false }
}
