import Foundation
import HalcyonImage
import HalcyonSystem

extension Image {
    /// Decodes data on the calling thread; `ImagePipeline` does it on threads of its own.
    ///
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    public init(
        data: Data, options: DecodeOptions = DecodeOptions(), coders: CoderRegistry = .shared,
        context: WorkContext = .uncancellable
    ) throws {
        self = try coders.decode(data, options: options, context: context)
    }

    /// The image as a file, encoded on the calling thread; an animation with all its frames where the format has them.
    ///
    /// - Parameters:
    ///   - format: nil, the default, is the source's own where it can be written, else PNG with alpha, JPEG without.
    ///   - quality: 0 to 1, of lossy formats. 0.85 by default.
    /// - Throws: `CodecError`, `BitmapError`.
    public func data(
        as format: ImageFormat? = nil, quality: Double = 0.85, coders: CoderRegistry = .shared
    ) throws -> Data {
        try data(as: format, options: EncodeOptions(quality: quality), coders: coders)
    }

    /// The image as a file, encoded on the calling thread.
    ///
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    public func data(
        as format: ImageFormat? = nil, options: EncodeOptions, coders: CoderRegistry = .shared,
        context: WorkContext = .uncancellable
    ) throws -> Data {
        try coders.encode(self, as: format, options: options, context: context)
    }
}
