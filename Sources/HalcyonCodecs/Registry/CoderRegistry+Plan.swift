import Foundation
import HalcyonImage
import HalcyonSystem

extension CoderRegistry {
    /// Decodes data as an earlier `plan` of the same data said.
    ///
    /// Reserves nothing: `plan.workingBytes` are the caller's to reserve from the `budget`.
    ///
    /// - Throws: `CodecError`, `BitmapError`, `CancellationError`.
    public func decode(_ data: Data, plan: DecodePlan, context: WorkContext = .uncancellable) throws -> Image {
        try decode(data, decoder: try requireDecoder(for: data), plan: plan, context: context)
    }
}
