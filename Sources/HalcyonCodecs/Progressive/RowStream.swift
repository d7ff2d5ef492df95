import Foundation
import HalcyonImage
import HalcyonSystem

/// How a `RowStream` becomes the image that a decode of the whole file gives.
enum RowEnding {
    /// Not at all: the end of the file has not come, or the stream was cancelled.
    case cutOff
    /// By its rows.
    case rows
    /// By a decode of these bytes, which are all that came: the rows serve previews alone.
    case file(Data)
}

/// A still image that comes row by row, its header known. One thread at a time.
protocol RowStream: AnyObject {
    /// More than before is something new to show.
    var rows: Int { get }
    /// The image's end, were the file to end here.
    var ending: RowEnding { get }

    /// Takes in the next part of the file. Where the ending is a file, it has this part even after an error.
    func append(_ data: Data, context: WorkContext) throws

    /// What is there by now, at the plan's native size; what is not is transparent.
    func bitmap(context: WorkContext) throws -> Bitmap
}
