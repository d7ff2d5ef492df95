import Foundation
import HalcyonImage
import HalcyonSystem

/// A decoder that can deliver the rows of some files one after the other, so that the registry scales or crops them as
/// they arrive and the whole image is never in memory.
public protocol RowImageDecoder: ImageDecoder {
    /// Returns whether the rows of this file are delivered in order, from top to bottom. Costs reading the header.
    func deliversRows(of data: Data, info: ImageInfo) -> Bool

    /// Decodes like `decode`, but row by row: `plan.nativeSize` in stored orientation, from the top.
    ///
    /// Rows need not be put any more once the sink `isFull`; a file that is truncated after them is damaged all the
    /// same.
    ///
    /// - Throws: the errors of `decode`.
    func decodeRows(of data: Data, plan: DecodePlan, into sink: RowSink, context: WorkContext) throws
}
