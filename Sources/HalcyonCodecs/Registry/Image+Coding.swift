import Foundation
import HalcyonImage
import HalcyonSystem

extension Image {
    /// Decodes data on the calling thread; `ImagePipeline` decodes on threads of its own.
    ///
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    public init(
        data: Data, options: DecodeOptions = DecodeOptions(), coders: CoderRegistry = .shared,
        context: WorkContext = .uncancellable
    ) throws {
        self = try coders.decode(data, options: options, context: context)
    }

    /// Encodes the image on the calling thread, an animation with all its frames if the format supports animations.
    ///
    /// - Parameters:
    ///   - format: the format of the file. Nil, the default, selects the source's own format if it can be written,
    ///     otherwise PNG for an image with alpha and JPEG for one without.
    ///   - quality: the quality of lossy formats, from 0 to 1. 0.85 by default.
    /// - Throws: `CodecError`, also for a quality that is not from 0 to 1; `BitmapError`.
    public func data(
        as format: ImageFormat? = nil, quality: Double = 0.85, coders: CoderRegistry = .shared
    ) throws -> Data {
        try data(as: format, options: EncodeOptions(quality: quality), coders: coders)
    }

    /// Encodes the image on the calling thread.
    ///
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    public func data(
        as format: ImageFormat? = nil, options: EncodeOptions, coders: CoderRegistry = .shared,
        context: WorkContext = .uncancellable
    ) throws -> Data {
        try coders.encode(self, as: format, options: options, context: context)
    }
}
