import Foundation
import HalcyonImage
import HalcyonSystem

/// A coder that rewrites files of one format as another without decoding them to pixels, so that nothing is lost.
public protocol ImageTranscoder: ImageCoder {
    /// Returns whether the transcoder rewrites files of this format as the other. Some files may still have no such form.
    func canTranscode(from source: ImageFormat, to target: ImageFormat) -> Bool

    /// Returns the maximum number of bytes that the work on a file takes, that of the result included.
    ///
    /// - Parameters:
    ///   - info: the facts of the file's header, which are within `limits`.
    ///   - fileBytes: the length of the file.
    ///   - effort: the time that is spent on a small file, as `EncodeOptions.effort`.
    func workingBytes(toTranscode info: ImageInfo, fileBytes: Int, effort: Double?, limits: DecodeLimits) -> Int

    /// Rewrites a file, whose header is within `limits`.
    ///
    /// - Parameters:
    ///   - info: the facts of the file's header.
    ///   - effort: the time that is spent on a small file, as `EncodeOptions.effort`.
    /// - Throws: `CodecError.encodingFailed` if the file has no such form, `.damaged`, `.limitExceeded`; `CancellationError`.
    func transcode(
        _ data: Data, info: ImageInfo, to target: ImageFormat, limits: DecodeLimits, effort: Double?,
        context: WorkContext
    ) throws -> Data
}
