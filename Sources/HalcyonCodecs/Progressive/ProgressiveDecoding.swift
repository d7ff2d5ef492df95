import Foundation
import HalcyonImage
import HalcyonSystem

/// One image that is decoded while its data arrives. Every byte is read once, whatever the number of previews.
///
/// Safe from any thread; calls wait for each other. After an error it only fails.
public protocol ProgressiveDecoding: AnyObject, Sendable {
    /// Takes in the next part of the file.
    ///
    /// Cost: the reading of this part, without making pixels of it where the format allows.
    ///
    /// - Throws: `CodecError`, also for a header beyond the limits, `BitmapError`, and `CancellationError`; it cannot go on
    ///   after any of them.
    func append(_ data: Data, context: WorkContext) throws

    /// The image as it is by now, at the final size and upright; nil where it shows nothing more than the last one.
    ///
    /// What has not arrived of an image that comes row by row is transparent.
    ///
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`; it cannot go on after any of them.
    func preview(context: WorkContext) throws -> Image?

    /// The whole image, the same as a decode of the whole file gives.
    ///
    /// Cost: that of a preview; of an animation, a WebP and what has no previews, a decode of the whole file.
    ///
    /// - Throws: `CodecError.damaged` where the end of the file has not come, and what `preview` throws.
    func finish(context: WorkContext) throws -> Image
}

extension ProgressiveDecoding {
    /// Takes in the next part of the file without being cancelled.
    public func append(_ data: Data) throws {
        try append(data, context: .uncancellable)
    }
}
