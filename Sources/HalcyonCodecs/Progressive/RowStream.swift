import Foundation
import HalcyonImage
import HalcyonSystem

/// The way in which a `RowStream` provides the final image, identical to a decode of the whole file.
enum RowEnding {
    /// No final image: the end of the file has not arrived, or the stream was cancelled.
    case cutOff
    /// The rows are the final image.
    case rows
    /// The final image is decoded from these bytes, which are all that arrived; the rows serve previews only.
    case file(Data)
}

/// A decoder of a still image that arrives row by row and whose header is known. Used by one thread at a time.
protocol RowStream: AnyObject {
    /// The progress; a higher number than before means that there is something new to show.
    var rows: Int { get }
    /// The way to the final image if the file ended here.
    var ending: RowEnding { get }

    /// Decodes the next part of the file. If `ending` is `.file`, that file contains this part even after an error.
    func append(_ data: Data, context: WorkContext) throws

    /// Returns the pixels that have arrived, at the plan's native size; the missing ones are transparent.
    func bitmap(context: WorkContext) throws -> Bitmap
}
