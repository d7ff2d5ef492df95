import Foundation
import HalcyonImage
import HalcyonSystem

extension CoderRegistry {
    /// Decodes data by an earlier `plan` of the same data.
    ///
    /// Reserves no memory: the caller reserves `plan.workingBytes` from the `budget`.
    ///
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    public func decode(_ data: Data, plan: DecodePlan, context: WorkContext = .uncancellable) throws -> Image {
        try decode(data, decoder: try requireDecoder(for: data), plan: plan, context: context)
    }
}
