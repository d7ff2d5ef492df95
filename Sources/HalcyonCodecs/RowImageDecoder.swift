import Foundation
import HalcyonImage
import HalcyonSystem

/// A decoder that can give the rows of some files one after the other, so that the registry reduces them, or cuts a
/// part out of them, while they come: the whole image is then never in memory.
public protocol RowImageDecoder: ImageDecoder {
    /// Whether this file's rows come in order, from top to bottom. Costs a look at the header.
    func deliversRows(of data: Data, info: ImageInfo) -> Bool

    /// Decodes like `decode`, but row by row: `plan.nativeSize` in stored orientation, from the top.
    ///
    /// Rows need no longer be put once the sink `isFull`; a file that was cut off behind them is damaged all the same.
    ///
    /// - Throws: what `decode` throws.
    func decodeRows(of data: Data, plan: DecodePlan, into sink: RowSink, context: WorkContext) throws
}
