import Foundation
import HalcyonImage
import HalcyonSystem

/// The decoding of one image while its data arrives. Every byte is read once, whatever the number of previews.
///
/// Safe from any thread; concurrent calls wait for each other. After an error, every further call fails.
public protocol ProgressiveDecoding: AnyObject, Sendable {
    /// Appends the next part of the file.
    ///
    /// Cost: reading this part, without decoding its pixels if the format allows that.
    ///
    /// - Throws: `CodecError`, also for a header beyond the limits, `BitmapError`, and `CancellationError`; the
    ///   decoding cannot continue after any of them.
    func append(_ data: Data, context: WorkContext) throws

    /// Returns the image as far as it has arrived, at the final size and upright, or nil if it shows nothing more than
    /// the last preview.
    ///
    /// The missing rows of an image that arrives row by row are transparent.
    ///
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`; the decoding cannot continue after any of them.
    func preview(context: WorkContext) throws -> Image?

    /// Returns the complete image, identical to a decode of the whole file.
    ///
    /// Cost: that of a preview; for an animation, a WebP and an image without previews, a decode of the whole file.
    ///
    /// - Throws: `CodecError.damaged` if the end of the file has not arrived, and the errors of `preview`.
    func finish(context: WorkContext) throws -> Image
}

extension ProgressiveDecoding {
    /// Appends the next part of the file without a way to cancel.
    public func append(_ data: Data) throws {
        try append(data, context: .uncancellable)
    }
}
