import Foundation
import HalcyonImage
import HalcyonSystem

/// A decoder that can give the rows of some files one after the other, so that the registry reduces them, or cuts a part
/// out of them, while they come: the whole image is then never in memory.
public protocol RowImageDecoder: ImageDecoder {
    /// Whether this file's rows come in order, from top to bottom.
    func deliversRows(of data: Data, info: ImageInfo) -> Bool

    /// Decodes like `decode`, but row by row: `plan.nativeSize` in stored orientation.
    func decodeRows(of data: Data, plan: DecodePlan, into sink: RowSink, context: WorkContext) throws
}
