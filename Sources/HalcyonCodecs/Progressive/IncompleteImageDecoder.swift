import Foundation
import HalcyonImage
import HalcyonSystem

/// A decoder that can show what there is of a file that was cut off, for `DecodeOptions.allowsIncomplete`.
package protocol IncompleteImageDecoder: ImageDecoder {
    /// Decodes what there is of a still image, or of the first frame of an animation. Pixels that are missing are
    /// transparent, unless the format leaves them grey.
    ///
    /// Called after `decode` has thrown `CodecError.damaged`. The plan has reserved two bitmaps of the native size and
    /// the length of the data.
    ///
    /// - Returns: exactly `plan.nativeSize` pixels, in stored orientation.
    /// - Throws: `CodecError` if there is nothing to show, or if the data is invalid before its end; `BitmapError`,
    ///   `CancellationError`.
    func decodeIncomplete(_ data: Data, plan: DecodePlan, context: WorkContext) throws -> Bitmap

    /// Returns whether frames of an animation are missing, of which the first one is there.
    func lacksFrames(_ data: Data, info: ImageInfo) -> Bool
}

extension IncompleteImageDecoder {
    package func lacksFrames(_ data: Data, info: ImageInfo) -> Bool { false }
}

extension RowStream {
    /// Returns what there is of a file, appended as a whole.
    package func part(of data: Data, _ format: ImageFormat, context: WorkContext) throws -> Bitmap {
        try append(data, context: context)
        guard rows > 0 else { throw CodecError.damaged(format, reason: "the file was cut off before its pixels") }
        return try bitmap(context: context)
    }
}
