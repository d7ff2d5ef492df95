import Foundation
import HalcyonImage
import HalcyonSystem

/// A still image that comes row by row, its header known. One thread at a time.
protocol RowStream: AnyObject {
    /// More than before is something new to show.
    var rows: Int { get }
    var isFinished: Bool { get }

    func append(_ data: Data, context: WorkContext) throws

    /// What is there by now, at the plan's native size; what is not is transparent.
    func bitmap(context: WorkContext) throws -> Bitmap
}
